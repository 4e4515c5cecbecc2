import { type Client, Pool, type PoolClient } from 'pg';
import { LIMITS } from '@headwater/shared';
import type { Log } from '../../contract/index.ts';
import { placeOfUrl } from '../postgres-at.ts';
import { replaceJobStatements } from './job-reports.ts';
import { createPersistence } from './until-done.ts';

export interface JobPoolOptions {
  databaseUrl: string;
  maxConnections: number;
  /** Default LIMITS.databaseSilenceMs. */
  silenceMs?: number;
  /** When it is aborted, work that fails is not tried again. Default: never. */
  stopping?: AbortSignal;
  /** When it is aborted, connections are closed, and what they owe fails. Default: never. */
  gaveUp?: AbortSignal;
  log: Log;
}

/**
 * Connections for graphile-worker. If a query is not answered in time, its connection is dropped
 * and the query fails as if the connection was lost. pg's own `query_timeout` keeps the connection
 * in the pool, where the next query waits behind the unanswered one.
 *
 * graphile-worker ends when it cannot report a job, and pauses for up to two minutes when the
 * database starts. So the pool waits until the database is back, and statements that take and
 * report jobs are retried until they succeed (`job-reports.ts`).
 */
export function createJobPool(options: JobPoolOptions): Pool {
  const { databaseUrl, maxConnections, silenceMs = LIMITS.databaseSilenceMs, log } = options;
  const stopping = options.stopping ?? new AbortController().signal;
  const { url, ...tls } = placeOfUrl(databaseUrl);
  const pool = new Pool({
    connectionString: url,
    ...tls,
    max: maxConnections,
    connectionTimeoutMillis: silenceMs,
    // Releases the locks of a node that has vanished.
    idle_in_transaction_session_timeout: silenceMs,
    application_name: 'headwater-jobs',
  });
  const persistence = createPersistence({ stopping, log });
  connectWhenBack(pool, persistence.untilDone);
  const replaceIn = replaceJobStatements({ pool, persistence, stopping });
  // Without a listener, an error of a connection ends the process. The user of the connection gets
  // the error as well.
  pool.on('error', (err) => log.debug({ err }, 'a connection for jobs was lost'));
  pool.on('connect', (client) => {
    client.on('error', (err) => log.debug({ err }, 'a connection for jobs was lost'));
    giveUpWhenSilent(client as Client, silenceMs, log);
    if (options.gaveUp !== undefined) closeOn(options.gaveUp, client as Client);
    replaceIn(client);
  });
  return pool;
}

/**
 * A callback, by which graphile-worker's listener connects, has the error: it has pauses of its
 * own, and others look for jobs.
 */
function connectWhenBack(pool: Pool, untilDone: <T>(work: () => Promise<T>) => Promise<T>): void {
  const connect = pool.connect.bind(pool);
  type Callback = Parameters<typeof connect>[0];
  const patient = (callback?: Callback): Promise<PoolClient> | void =>
    callback === undefined ? untilDone(() => connect()) : connect(callback);
  pool.connect = patient as typeof pool.connect;
}

function closeOn(signal: AbortSignal, client: Client): void {
  const close = () => client.connection.stream.destroy();
  if (signal.aborted) return void close();
  signal.addEventListener('abort', close, { once: true });
  client.once('end', () => signal.removeEventListener('abort', close));
}

function giveUpWhenSilent(client: Client, silenceMs: number, log: Log): void {
  const query = client.query.bind(client) as (...parameters: unknown[]) => unknown;
  const timed = (...parameters: unknown[]) => {
    const answer = query(...parameters);
    if (!(answer instanceof Promise)) return answer;
    const timer = setTimeout(() => {
      log.warn({ silence_ms: silenceMs }, 'the database has not answered; the connection is given up');
      client.connection.stream.destroy();
    }, silenceMs);
    return answer.finally(() => clearTimeout(timer));
  };
  client.query = timed as typeof client.query;
}
