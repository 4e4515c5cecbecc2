import { randomInt } from 'node:crypto';

/** From and to, both included. */
type Range = readonly [from: number, to: number];

/**
 * User ids that people, packages, containers and systemd leave unused. The first range is for
 * machines. The second is for containers, whose user namespace has only the first 65 536 ids.
 * https://systemd.io/UIDS-GIDS/
 */
const UNUSED: readonly Range[] = [
  [1_900_000_000, 1_900_065_535],
  [60_706, 61_183],
];

/** Users without a name, one for each process at a time. */
export interface UserIds {
  take(): number;
  giveBack(id: number): void;
}

/**
 * `uidMap` and `gidMap` are those of /proc/self: which ids exist in this user namespace. Undefined
 * where none of ours does. Nodes on the same machine do not know of each other: each begins at a
 * random place of the range.
 */
export function findUserIds(uidMap: string, gidMap: string): UserIds | undefined {
  const range = UNUSED.find((wanted) => holds(uidMap, wanted) && holds(gidMap, wanted));
  if (range === undefined) return undefined;
  const [from, to] = range;
  const taken = new Set<number>();
  let next = randomInt(from, to + 1);
  return {
    take() {
      // There are far fewer processes than ids.
      do next = next === to ? from : next + 1;
      while (taken.has(next));
      taken.add(next);
      return next;
    },
    giveBack(id) {
      taken.delete(id);
    },
  };
}

function holds(map: string, [from, to]: Range): boolean {
  return map.split('\n').some((line) => {
    const [first = Number.NaN, , count = 0] = line.trim().split(/\s+/).map(Number);
    return from >= first && to < first + count;
  });
}
