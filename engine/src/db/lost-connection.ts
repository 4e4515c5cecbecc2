import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../contract/index.ts';

const SOCKET_ERRORS = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNREFUSED', 'ECONNABORTED']);

/** `pg`, the driver of graphile-worker, gives these errors no code. */
const LOST_BY_PG = /^(Connection terminated|Client has encountered a connection error)/;

/**
 * Whether the database could not be reached, or the connection to it was lost: what the client and
 * the socket say, and the server before it closes the connection (57P01 to 57P05: it stops, or was
 * told to; 25P03 and 25P04: its time is over).
 */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  if (code === '' && error instanceof Error && LOST_BY_PG.test(error.message)) return true;
  return /^(CONNECT|57P0|25P0[34]|08)/.test(code) || SOCKET_ERRORS.has(code);
}

/**
 * Whether the database is away, or answers and can take nothing now: it is read-only (25006), as
 * after a failover, or its disk, memory or connections are used up (class 53), or its disk fails
 * (58030).
 */
export function isDatabaseAway(error: unknown): boolean {
  return isConnectionLost(error) || /^(53|25006$|58030$)/.test(codeOf(error));
}

/**
 * Whether nothing of a failed transaction can be in the database: the server refused a statement of
 * it, or none was sent, as there was no connection (see ConnectionPool.acquire). Where a connection
 * is lost, its commit may have gone through.
 */
export function cannotHaveCommitted(error: unknown): boolean {
  const code = codeOf(error);
  return wasRolledBack(error) || /^(?:(?:22|23|25|42|53|54|55)\w{3}|57014|57P03)$/.test(code) || NOT_SENT.has(code);
}

const NOT_SENT = new Set(['CONNECTION_AWAY', 'CONNECTION_BUSY']);

/**
 * As isDatabaseAway, or the database answers but had no time for this. That is a repeated deadlock
 * (class 40), a lock timeout (55P03) or a statement timeout (57014). The request has no fault and
 * may be repeated.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  return isDatabaseAway(error) || wasRolledBack(error) || /^(55P03|57014)$/.test(codeOf(error));
}

const WORDS: readonly (readonly [codes: RegExp, words: string])[] = [
  [/^53100$/, 'The disk of the database is full'],
  [/^53300$/, 'The database has no connection left'],
  [/^(53|58)/, 'The database has no memory, disk or connections left'],
  [/^(25006|CONNECTION_READ_ONLY)$/, 'The database is read-only'],
  [/^57P03$/, 'The database is starting up, recovering or stopping'],
  [/^57P0/, 'The database was stopped'],
  [/^28/, 'The database does not take the user or the password of this node'],
  [/^3D000$/, 'The server has no database of the name in DATABASE_URL'],
  [/^(40|55P03|57014|CONNECTION_BUSY)/, 'The database is too busy'],
  [/^(CONNECTION_SILENT|CONNECT_TIMEOUT|ETIMEDOUT)$/, 'The database does not answer'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'The host of the database is not known by its name'],
  [/^ECONNREFUSED$/, 'No server listens at the address of the database'],
];

/** Describes a database problem without the address or other details of the error. */
export function describeDatabaseError(error: unknown): string {
  const { cause } = (error ?? {}) as { cause?: unknown };
  const code = codeOf(error);
  if (code === 'CONNECTION_AWAY') return describeDatabaseError(cause);
  return WORDS.find(([codes]) => codes.test(code))?.[1] ?? 'The database cannot be reached';
}

/**
 * Whether it certainly left nothing behind: the database rolled the transaction back, to let
 * another one go on.
 */
export function wasRolledBack(error: unknown): boolean {
  return ROLLED_BACK.has(codeOf(error));
}

/** A serialization that failed, a deadlock. */
const ROLLED_BACK = new Set(['40001', '40P01']);

/** The code of the error or of its cause; '' if there is none. */
export function codeOf(error: unknown): string {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  if (typeof code === 'string') return code;
  return cause instanceof Error ? codeOf(cause) : '';
}

/** A database that is restarted is back before. */
const MAX_AWAY_MS = 20_000;
const PAUSE_MS = 250;

/**
 * Retries while the database is away, so that runs do not fail without a fault of their component.
 * `ask` must be idempotent: a connection can be lost after its query was done. `onAway` is called
 * each time the database is found away.
 */
export async function retryWhileAway<T>(ask: () => Promise<T>, onAway: () => void = () => undefined): Promise<T> {
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

const START_PAUSE_MS = 500;

/**
 * For a start: repeats `work` for as long as the database is unavailable, so `work` must be
 * idempotent. A connection can be lost under each of its statements.
 */
export async function retryUntilDatabaseBack<T>(log: Log, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseUnavailable(error) && !isDatabaseUnavailable((error as Error).cause)) throw error;
      log.warn({ err: error }, 'the database went away while the node starts; the start waits for it');
      await sleep(START_PAUSE_MS);
    }
  }
}
