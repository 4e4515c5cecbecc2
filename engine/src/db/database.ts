import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { LIMITS } from '@headwater/shared';
import type postgres from 'postgres';
import { addArrayTypes } from './array-types.ts';
import type { ClientEvents, MakeClient } from './connection.ts';
import { type Outage, ConnectionPool, type Fault } from './connection-pool.ts';
import { hostUrlsOf } from './database-hosts.ts';
import { drizzle } from './drizzle.ts';
import { createListener } from './listener.ts';
import type { PoolLimits } from './pool-limits.ts';
import { postgresAt } from './postgres-at.ts';
import { createSqlTag } from './postgres-query.ts';
import { begin, reserve, runAlone, type Work } from './transactions.ts';

type Types = { bigint: number };

/**
 * Plain SQL. bigint columns come back as numbers (all of ours fit: milliseconds and counts);
 * timestamps come back as text, because drizzle owns their parsing on this connection: raw
 * statements ask for `extract(epoch from …)` instead. JSON parameters are passed as text with a
 * cast (`${text}::jsonb`). All of it settles, also when the database is gone: see ConnectionPool.
 * `begin` and `reserve`: see transactions.ts; `listen`: see Listener.
 */
export type Sql = postgres.Sql<Types>;
export type Transaction = postgres.TransactionSql<Types>;

export interface Database {
  sql: Sql;
  orm: PostgresJsDatabase;
  /** Since when and why the database cannot be reached; undefined while it can. */
  away(): Outage | undefined;
  /** The last time that it had no room for something. */
  fault(): Fault | undefined;
  /** While a node starts: work waits for a database that is away, however long. */
  waitForEver(isPatient: boolean): void;
  /** URL of the host in use, if the database URL names several. */
  currentUrl(): string;
  /**
   * Closes the pool. Queries in flight have `seconds` (default 5), then they fail as when their
   * connection is lost.
   */
  close(seconds?: number): Promise<void>;
}

export interface DatabaseOptions {
  /**
   * May name several hosts, `postgres://user@one:5432,two:5432/name`: the one that stores is used.
   */
  url: string;
  /** Connections of this node, besides graphile-worker's own and one that listens. Default 10. */
  maxConnections?: number;
  onNotice?: (message: string) => void;
  onAway?: (away: Outage) => void;
  onBack?: (awayMs: number) => void;
  /** The database has not answered in time, and `connections` connections are made anew. */
  onSilent?: (connections: number) => void;
  /** For tests. */
  limits?: Partial<PoolLimits>;
}

const CLOSE_SECONDS = 5;
const DEFAULT_CONNECTIONS = 10;

export function openDatabase(options: DatabaseOptions): Database {
  const { maxConnections = DEFAULT_CONNECTIONS, limits = {}, onAway, onBack, onSilent } = options;
  const urls = hostUrlsOf(options.url);
  const pool = new ConnectionPool({
    targets: urls.map((url) => clientMaker(url, options)),
    maxConnections,
    limits,
    ...(onAway === undefined ? {} : { onAway }),
    ...(onBack === undefined ? {} : { onBack }),
    ...(onSilent === undefined ? {} : { onSilent }),
  });
  // It makes queries and never connects.
  const front = postgresAt(urls[0] as string, { max: 0, types: BIGINT_AS_NUMBER });
  const listener = createListener({
    open: () => pool.openApart(),
    pingMs: limits.probeAfterMs ?? LIMITS.databaseProbeMs,
    silenceMs: limits.connectMs ?? LIMITS.databaseConnectMs,
  });
  const own = {
    begin: <T>(work: Work<T>) => begin(front, pool, work),
    reserve: () => reserve(front, pool),
    listen: listener.listen,
    options: { ...front.options, ...placesOf(urls) },
  };
  const sql = Object.assign(
    createSqlTag(front, (query) => runAlone(pool, query)),
    own,
  ) as unknown as Sql;
  return {
    sql,
    orm: drizzle(sql),
    away: () => pool.away,
    fault: () => pool.fault,
    waitForEver: (isPatient) => pool.waitForEver(isPatient),
    currentUrl: () => urls[pool.target] as string,
    async close(seconds = CLOSE_SECONDS) {
      await Promise.all([listener.stop(), pool.close(seconds)]);
    },
  };
}

/** As the client reads them, also from the environment. */
function placesOf(urls: readonly string[]): Pick<Sql['options'], 'host' | 'port'> {
  const all = urls.map((url) => postgresAt(url, { max: 0 }).options);
  return { host: all.flatMap(({ host }) => host), port: all.flatMap(({ port }) => port) };
}

/** As Sql reads them. */
export const BIGINT_AS_NUMBER = { bigint: { to: 20, from: [20], serialize: String, parse: Number } };

function clientMaker(url: string, { onNotice }: DatabaseOptions): MakeClient {
  return ({ socket, onClosed, onNotify }: ClientEvents) => {
    const client = postgresAt(url, {
      max: 1,
      // Missing in the published types.
      ...({ socket, onnotify: onNotify } as object),
      // The pool replaces connections.
      max_lifetime: null,
      fetch_types: false,
      backoff: () => 0,
      onnotice: (notice) => onNotice?.(notice['message'] ?? ''),
      onclose: onClosed,
      types: BIGINT_AS_NUMBER,
      connection: {
        application_name: 'headwater',
        // A plan kept from when a table was small takes 10 s instead of 2 ms for a batch of 64
        // rows. That was measured at 400 000 rows, before statistics caught up. Planning each time
        // costs a fraction of a millisecond per batch.
        plan_cache_mode: 'force_custom_plan',
        // If a node vanishes in a transaction, its locks would stay until the server's system
        // notices, which takes 15 minutes or more.
        idle_in_transaction_session_timeout: LIMITS.databaseSilenceMs,
        statement_timeout: LIMITS.maxStatementMs,
      },
    });
    // It sets how timestamps come back, on each client.
    drizzle(client);
    addArrayTypes(client);
    return client;
  };
}
