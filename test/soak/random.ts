/** A source of randomness that gives the same numbers for the same seed. */
export interface Random {
  /** From 0 to below 1. */
  next(): number;
  between(min: number, max: number): number;
  /** Undefined for an empty list. */
  pick<T>(list: readonly T[]): T | undefined;
  /** A new list; the given one stays. */
  shuffle<T>(list: readonly T[]): T[];
}

/** mulberry32: 32 bits of state, and good enough to choose what to kill. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  return {
    next,
    between: (min, max) => min + next() * (max - min),
    pick: (list) => list[Math.floor(next() * list.length)],
    shuffle(list) {
      const keys = list.map((item) => ({ item, key: next() }));
      return keys.sort((a, b) => a.key - b.key).map(({ item }) => item);
    },
  };
}
