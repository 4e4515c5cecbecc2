import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { LIMITS } from '@headwater/shared';
import postgres from 'postgres';
import { drizzle } from './drizzle.ts';
import { type ClientEvents, createRenewedClient } from './renewed-client.ts';

/**
 * Plain SQL. bigint columns come back as numbers (all of ours fit: milliseconds and counts); timestamps come back as
 * text, because drizzle owns their parsing on this connection: raw statements ask for `extract(epoch from …)` instead.
 * JSON parameters are passed as text with a cast (`${text}::jsonb`).
 */
export type Sql = postgres.Sql<{ bigint: number }>;
export type Transaction = postgres.TransactionSql<{ bigint: number }>;

export interface Database {
  sql: Sql;
  orm: PostgresJsDatabase;
  /** Closes the pool; waits up to five seconds for queries in flight. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  url: string;
  /** Connections of this node, besides graphile-worker's own. Default 10. */
  maxConnections?: number;
  onNotice?: (message: string) => void;
  /** The database has not answered in time, and its connections are made anew. */
  onGivenUp?: () => void;
}

const CLOSE_SECONDS = 5;

/** Between two attempts to connect. */
const RECONNECT_SECONDS = 0.5;

export function openDatabase(options: DatabaseOptions): Database {
  const make = ({ onConnected, onClosed }: ClientEvents) => {
    const client = postgres(options.url, {
      max: options.maxConnections ?? 10,
      backoff: () => RECONNECT_SECONDS,
      onnotice: (notice) => options.onNotice?.(notice['message'] ?? ''),
      onparameter: onConnected,
      onclose: onClosed,
      types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
      connection: {
        application_name: 'headwater',
        // A plan kept from when a table was small turns a batch of 64 rows from 2 ms into 10 s once the table has 400 000
        // (measured, before statistics caught up). Planning each time costs a fraction of a millisecond a batch.
        plan_cache_mode: 'force_custom_plan',
        // What a node held that vanished in a transaction would stay locked until the server's system notices, for a quarter of an hour and more.
        idle_in_transaction_session_timeout: LIMITS.databaseSilenceMs,
      },
    });
    // It sets how timestamps come back, on each client.
    drizzle(client);
    return client;
  };
  const { onGivenUp } = options;
  const renewed = { closeSeconds: CLOSE_SECONDS, ...(onGivenUp === undefined ? {} : { onGivenUp }) };
  const { sql, close } = createRenewedClient(make, renewed);
  return { sql, orm: drizzle(sql), close };
}
