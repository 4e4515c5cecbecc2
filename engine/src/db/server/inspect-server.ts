import type postgres from 'postgres';
import { postgresAt } from '../postgres-at.ts';

/** State of a Postgres server and of our schema in it. */
export interface ServerState {
  version: { number: number; text: string };
  /** How far its clock is ahead of this machine's. */
  clockAheadMs: number;
  /** How long a question takes. */
  roundTripMs: number;
  /** Names of the migrations that were applied; absent where there is no schema yet. */
  migrations?: string[];
}

const CONNECT_TIMEOUT_S = 5;

/** Changes nothing. Rejects where the server cannot be reached or does not let us in. */
export async function inspectServer(url: string): Promise<ServerState> {
  const sql = postgresAt(url, { max: 1, connect_timeout: CONNECT_TIMEOUT_S, onnotice: () => undefined });
  try {
    const [row] = await sql<{ number: number; text: string; hasSchema: boolean }[]>`
      select current_setting('server_version_num')::int as number, current_setting('server_version') as text,
        to_regclass('headwater_migrations') is not null as "hasSchema"`;
    if (row === undefined) throw new Error('it did not say its version');
    const { number, text, hasSchema } = row;
    const state = { version: { number, text }, ...(await compareClocks(sql)) };
    if (!hasSchema) return state;
    const done = await sql<{ name: string }[]>`select name from headwater_migrations order by name`;
    return { ...state, migrations: done.map(({ name }) => name) };
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** The connection is there already, so half of the round trip is the way of the answer. */
async function compareClocks(sql: postgres.Sql): Promise<{ clockAheadMs: number; roundTripMs: number }> {
  const [askedMs, asked] = [Date.now(), performance.now()];
  const [row] = await sql<{ ms: number }[]>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`;
  const roundTripMs = performance.now() - asked;
  return { clockAheadMs: (row?.ms ?? askedMs) - (askedMs + roundTripMs / 2), roundTripMs };
}
