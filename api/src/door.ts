import { LIMITS } from '@headwater/shared';
import { setTimeout as sleep } from 'node:timers/promises';

/** More are not held up: each of them is memory, also when its client has gone. */
const MAX_WAITING = 1_000;

/** Resolves when the next one may go on; undefined: at once. */
export type Door = () => Promise<void> | undefined;

/**
 * Hundreds of requests that come at once go on a few at a time, in their order, and others have the thread and the database in between:
 * LIMITS.requestsAtOnce, requestsRestMs.
 */
export function createDoor(onIdle?: () => void): Door {
  const waiting: (() => void)[] = [];
  /** Since the last rest. */
  let passed = 0;

  async function rest(): Promise<void> {
    while (passed > 0) {
      await sleep(LIMITS.requestsRestMs);
      const next = waiting.splice(0, LIMITS.requestsAtOnce);
      passed = next.length;
      for (const go of next) go();
    }
    onIdle?.();
  }

  return () => {
    if (waiting.length >= MAX_WAITING) return undefined;
    if (passed === LIMITS.requestsAtOnce) return new Promise((resolve) => waiting.push(resolve));
    passed++;
    if (passed === 1) void rest();
    return undefined;
  };
}

/** A door for each key that is used. */
export function createDoors(): (key: string) => ReturnType<Door> {
  const doors = new Map<string, Door>();
  return (key) => {
    const door = doors.get(key) ?? createDoor(() => doors.delete(key));
    doors.set(key, door);
    return door();
  };
}
