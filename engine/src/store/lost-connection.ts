import { setTimeout as sleep } from 'node:timers/promises';

const SOCKET_ERRORS = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNREFUSED', 'ECONNABORTED']);

/**
 * Whether the database could not be reached, or the connection to it was lost: what the client and the socket say, and the server before it
 * closes the connection (57P01 to 57P05: it stops, or was told to; 25P03 and 25P04: its time is over).
 */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  return /^(CONNECT|57P0|25P0[34]|08)/.test(code) || SOCKET_ERRORS.has(code);
}

/**
 * Whether the database is away, or answers and can take nothing now: it is read-only (25006), as after a failover, or its disk, memory or
 * connections are used up (class 53), or its disk fails (58030).
 */
export function isDatabaseAway(error: unknown): boolean {
  return isConnectionLost(error) || /^(53|25006$|58030$)/.test(codeOf(error));
}

/** Whether it certainly left nothing behind: the database rolled the transaction back, to let another one go on. */
export function wasRolledBack(error: unknown): boolean {
  return ROLLED_BACK.has(codeOf(error));
}

/** A serialization that failed, a deadlock. */
const ROLLED_BACK = new Set(['40001', '40P01']);

/** Its own, or that of what caused it; '' where there is none. */
export function codeOf(error: unknown): string {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  if (typeof code === 'string') return code;
  return cause instanceof Error ? codeOf(cause) : '';
}

/** A database that is restarted is back before. */
const MAX_AWAY_MS = 20_000;
const PAUSE_MS = 250;

/**
 * Asks again while the database is away: for runs, which would fail for what is no fault of their component. Only what may be done
 * twice: a connection can be lost after its query was done. `onAway` is called each time that it is found away.
 */
export async function askUntilBack<T>(ask: () => Promise<T>, onAway: () => void = () => undefined): Promise<T> {
  const endsAtMs = performance.now() + MAX_AWAY_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (isDatabaseAway(error)) onAway();
      if (!isDatabaseAway(error) || performance.now() > endsAtMs) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
