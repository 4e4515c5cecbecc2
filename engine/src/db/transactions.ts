import { setTimeout as sleep } from 'node:timers/promises';
import type postgres from 'postgres';
import { type Connection, connectionError, isServersWord } from './connection.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { isConnectionLost, wasRolledBack } from './lost-connection.ts';
import { type Client, createSqlTag, type PostgresQuery } from './postgres-query.ts';

type Types = { bigint: number };
type Reserved = postgres.ReservedSql<Types>;
type Transaction = postgres.TransactionSql<Types>;
export type Work<T> = (tx: Transaction) => T | Promise<T>;

/** Rollback function of each reserved connection. */
const rollBacks = new WeakMap<object, (error: unknown) => Promise<void>>();

const MAX_TRIES = 4;
/** 0 to 20, 40, 80 ms: transactions that were in each other's way come back at different times. */
const FIRST_PAUSE_MS = 20;

function pauseMs(tries: number): number {
  return Math.random() * FIRST_PAUSE_MS * 2 ** (tries - 1);
}

/**
 * Runs a statement as its own transaction. Retries it if it certainly left no changes (a deadlock,
 * a failed serialization), or if it only reads and its connection was lost.
 */
export function runAlone(pool: ConnectionPool, query: PostgresQuery, tries = 1): void {
  const runOn = (connection: Connection) =>
    connection.run(query, (error) => {
      pool.release(connection, error);
      const goesAgain = tries < MAX_TRIES && (wasRolledBack(error) || (isConnectionLost(error) && isRead(query)));
      if (!goesAgain) return false;
      query.parameters = undefined;
      query.retried = undefined;
      setTimeout(runAlone, pauseMs(tries), pool, query, tries + 1);
      return true;
    });
  const idle = pool.takeIdle();
  if (idle !== undefined) runOn(idle);
  else pool.acquire().then(runOn, (error: unknown) => query.reject(error));
}

/** Functions and clauses with which a `select` can change or lock something. */
const CHANGES =
  /\b(graphile_worker|pg_notify|pg_advisory\w*|set_config|nextval|for (no key )?update|for (key )?share)\b/i;

function isRead({ string = '' }: PostgresQuery): boolean {
  return /^\s*select\b/i.test(string) && !CHANGES.test(string);
}

/** A connection of one's own until `release`, which is idempotent. */
export async function reserve(front: Client, pool: ConnectionPool): Promise<Reserved> {
  const connection = await pool.acquire();
  let isReleased = false;
  const release = () => {
    if (!isReleased) giveBack(pool, connection);
    isReleased = true;
  };
  const tag = createSqlTag(front, (query) => connection.run(query)) as Transaction;
  rollBacks.set(tag, async (error) => {
    await rollBack(tag, connection, error);
    release();
  });
  return Object.assign(tag, { release }) as unknown as Reserved;
}

/** After a failure within a transaction: instead of `release`. */
export async function rollBackReserved(reserved: Reserved, error: unknown): Promise<void> {
  await rollBacks.get(reserved)?.(error);
}

function giveBack(pool: ConnectionPool, connection: Connection): void {
  // A pending query would send its result to the next user of the connection.
  if (connection.isBusy)
    connection.retire(connectionError('CONNECTION_CLOSED', 'The connection was given back too early'));
  else pool.release(connection);
}

/**
 * Runs a transaction. After a deadlock or a failed serialization `work` is called again, and also
 * if the connection was lost before the transaction began. So `work` may only query the database.
 * Rejects when the connection is lost, even if `work` waits for something else. `work` may return a
 * list of queries.
 */
export async function begin<T>(front: Client, pool: ConnectionPool, work: Work<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    const connection = await pool.acquire();
    const progress = { hasBegun: false };
    try {
      return await attempt(front, connection, work, progress);
    } catch (error) {
      const mayGoAgain = wasRolledBack(error) || (!progress.hasBegun && isConnectionLost(error));
      if (tries === MAX_TRIES || !mayGoAgain) throw error;
    } finally {
      connection.onLost = undefined;
      giveBack(pool, connection);
    }
    await sleep(pauseMs(tries));
  }
}

async function attempt<T>(
  front: Client,
  connection: Connection,
  work: Work<T>,
  progress: { hasBegun: boolean },
): Promise<T> {
  const tx = createSqlTag(front, (query) => connection.run(query)) as Transaction;
  const lost = new Promise<never>((_, reject) => {
    connection.onLost = reject;
  });
  // The connection may be lost when no code awaits this promise.
  lost.catch(() => undefined);
  try {
    await tx`begin`;
    progress.hasBegun = true;
    const result = await Promise.race([settle(work(tx)), lost]);
    await tx`commit`;
    return result;
  } catch (error) {
    await rollBack(tx, connection, error);
    throw error;
  }
}

async function settle<T>(worked: T | Promise<T>): Promise<T> {
  return Array.isArray(worked) ? (Promise.all(worked) as Promise<T>) : worked;
}

async function rollBack(tx: Transaction, connection: Connection, error: unknown): Promise<void> {
  // postgres.js 3.4.9 takes a statement that it could not make for one that was sent, and mistakes
  // the answers of all that follow.
  if (connection.isBusy && !isServersWord(error))
    connection.retire(
      connectionError('CONNECTION_CLOSED', 'A transaction failed while its queries were under way', error),
    );
  await tx`rollback`.catch(() => undefined);
}
