import { setTimeout as sleep } from 'node:timers/promises';

/** They are no crowd. */
const AT_ONCE = 4;
/** Between those of a crowd: 500 a second. With 1000 a second others feel it (p99 16 to 19 ms instead of 8 to 10). */
const REST_MS = 8;
/** More are not held up: each of them is memory, also when its client has gone. */
const MAX_WAITING = 1_000;

/** Resolves when the next one may go on; undefined: at once. */
export type Door = () => Promise<void> | undefined;

/**
 * For requests of which nobody knows whose they are: hundreds that come at once go on a few at a time, in their order, and others have
 * the thread and the database in between.
 */
export function createDoor(): Door {
  const waiting: (() => void)[] = [];
  /** Since the last rest. */
  let passed = 0;

  async function rest(): Promise<void> {
    while (passed > 0) {
      await sleep(REST_MS);
      const next = waiting.splice(0, AT_ONCE);
      passed = next.length;
      for (const go of next) go();
    }
  }

  return () => {
    if (waiting.length >= MAX_WAITING) return undefined;
    if (passed === AT_ONCE) return new Promise((resolve) => waiting.push(resolve));
    passed++;
    if (passed === 1) void rest();
    return undefined;
  };
}
