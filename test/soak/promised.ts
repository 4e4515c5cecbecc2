/** A promise, with the records that break it. Empty `broken`: it holds. */
export interface Promised {
  name: string;
  broken: unknown[];
}

/** All but the first of each key. */
export function repeated<T>(list: readonly T[], keyOf: (item: T) => unknown): T[] {
  const seen = new Set<unknown>();
  return list.filter((item) => {
    const key = keyOf(item);
    if (seen.has(key)) return true;
    seen.add(key);
    return false;
  });
}
