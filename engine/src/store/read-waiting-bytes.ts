import type { Sql } from './database.ts';

/** What the executions of each account that wait have, as it counts for maxWaitingBytes. */
export async function readWaitingBytes(sql: Sql): Promise<Map<string, number>> {
  const rows = await sql<{ account_id: string; bytes: number }[]>`
    select account_id, sum(bytes)::int8 as bytes from execution_waits group by account_id`;
  return new Map(rows.map((row) => [row.account_id, row.bytes]));
}
