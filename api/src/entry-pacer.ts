import { HeadwaterError, LIMITS } from '@headwater/shared';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Resolves when the next one may go on; undefined: at once. Throws RATE_LIMITED where too many
 * wait, if it `refuses`.
 */
export type EntryPacer = () => Promise<void> | undefined;

export interface EntryPace {
  atOnce: number;
  restMs: number;
  /** Each of them is memory, also when its client has gone. */
  maxWaiting: number;
  /**
   * True: a request that finds too many waiting is refused. False: it continues at once, because no
   * event may be lost.
   */
  refuses: boolean;
}

const MAX_WAITING = 4_000;

export const REST_PACE: EntryPace = {
  atOnce: LIMITS.requestsAtOnce,
  restMs: LIMITS.requestsRestMs,
  maxWaiting: MAX_WAITING,
  refuses: true,
};
export const ENDPOINT_PACE: EntryPace = {
  atOnce: LIMITS.endpointRequestsAtOnce,
  restMs: LIMITS.endpointRequestsRestMs,
  maxWaiting: MAX_WAITING,
  refuses: false,
};

/**
 * Lets hundreds of simultaneous requests pass a few at a time, in order. Other work gets the thread
 * and the database in between.
 */
export function createEntryPacer({ atOnce, restMs, maxWaiting, refuses }: EntryPace, onIdle?: () => void): EntryPacer {
  const waiting: (() => void)[] = [];
  /** Since the last rest. */
  let passed = 0;

  async function rest(): Promise<void> {
    while (passed > 0) {
      await sleep(restMs);
      const next = waiting.splice(0, atOnce);
      passed = next.length;
      for (const go of next) go();
    }
    onIdle?.();
  }

  return () => {
    if (waiting.length >= maxWaiting) {
      if (refuses) throw tooMany(waiting.length, (waiting.length / atOnce) * restMs);
      return undefined;
    }
    if (passed === atOnce) return new Promise((resolve) => waiting.push(resolve));
    passed++;
    if (passed === 1) void rest();
    return undefined;
  };
}

function tooMany(waiting: number, waitMs: number): HeadwaterError {
  const message = `${waiting} requests to the REST API wait already, with the same key or with none that is known; try again later`;
  return new HeadwaterError('RATE_LIMITED', message, { retryAfterSeconds: Math.ceil(waitMs / 1_000) });
}

/** A door for each key or account that is there. */
export function createEntryPacers(pace: EntryPace): (name: string) => ReturnType<EntryPacer> {
  const doors = new Map<string, EntryPacer>();
  return (name) => {
    const door = doors.get(name) ?? createEntryPacer(pace, () => doors.delete(name));
    doors.set(name, door);
    return door();
  };
}
