import { createLimiter, LIMITS } from '@headwater/shared';
import { endAtPace } from './end-at-pace.ts';

const PACE = { smallChars: LIMITS.smallValueChars, charsPerSecond: LIMITS.dbReadCharsPerSecond };
/** Each is answered soon, whether its run still waits for it or not. */
const NEVER = new AbortController().signal;

type Read = () => Promise<string | undefined>;

/** Reads a value of an account's `$.service.db` when it may. */
export type ReadDbInTurn = (accountId: string, read: Read) => ReturnType<Read>;

/**
 * Limits concurrent reads of `$.service.db`. An account has many isolates, each of which waits for
 * its read. All their reads would delay the statements of other tenants, and their values pass
 * through the node's only thread.
 */
export function createDbTurns(hasOthers: (accountId: string) => boolean): ReadDbInTurn {
  const turns = createLimiter(LIMITS.maxDbReadsPerTenant);
  // An account has no more of those that wait here than of turns, so first come, first served is
  // fair.
  const places = createLimiter(LIMITS.maxDbReads);
  return async (accountId, read) => {
    const end = await turns.take(accountId, NEVER);
    const leave = await places.take('', NEVER);
    let chars = 0;
    try {
      const value = await read();
      chars = value?.length ?? 0;
      return value;
    } finally {
      leave?.();
      endAtPace(() => end?.(), hasOthers(accountId) ? chars : 0, PACE);
    }
  };
}
