import { type Client, Pool } from 'pg';
import { LIMITS } from '@headwater/shared';
import type { Log } from '../log.ts';

export interface JobPoolOptions {
  databaseUrl: string;
  maxConnections: number;
  /** Default LIMITS.databaseSilenceMs. */
  silenceMs?: number;
  log: Log;
}

/**
 * Connections for graphile-worker. One whose query is not answered in time is given up, and the query fails as when the connection is
 * lost. pg's own `query_timeout` leaves it in the pool, where the next query waits behind the one that is never answered.
 */
export function createJobPool(options: JobPoolOptions): Pool {
  const { databaseUrl, maxConnections, silenceMs = LIMITS.databaseSilenceMs, log } = options;
  const pool = new Pool({
    connectionString: databaseUrl,
    max: maxConnections,
    connectionTimeoutMillis: silenceMs,
    // Of a node that has vanished nothing stays locked.
    idle_in_transaction_session_timeout: silenceMs,
    application_name: 'headwater-jobs',
  });
  // Without listeners an error of a connection ends the process; whoever uses the connection has it as well.
  pool.on('error', (err) => log.warn({ err }, 'a connection for jobs was lost'));
  pool.on('connect', (client) => {
    client.on('error', (err) => log.debug({ err }, 'a connection for jobs was lost'));
    giveUpWhenSilent(client as Client, silenceMs, log);
  });
  return pool;
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
