import { restAfterMs } from '../fairness/index.ts';

/** Begins the work when it may. Resolves when it is done. */
export type Turns = (work: () => Promise<void>) => Promise<void>;

/**
 * One piece of work after the other, the next after a rest as long as the one before took: two
 * commits of those that bring much are both of a small machine's processors in the database.
 */
export function createHeavyTurns(): Turns {
  let rested: Promise<void> = Promise.resolve();
  return async (work) => {
    const before = rested;
    const { promise, resolve } = Promise.withResolvers<void>();
    rested = promise;
    await before;
    const startedMs = performance.now();
    try {
      await work();
    } finally {
      setTimeout(resolve, restAfterMs(performance.now() - startedMs));
    }
  };
}
