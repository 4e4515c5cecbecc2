import type { Sql } from '../../db/database.ts';

/** Size of all `$.service.db` by account, as counted for maxAllDbBytes. */
export async function readAccountDbSizes(sql: Sql): Promise<Map<string, number>> {
  const rows = await sql<{ account_id: string; bytes: number }[]>`
    select account_id, sum(db_bytes)::int8 as bytes from emitter_state where db_bytes > 0 group by account_id`;
  return new Map(rows.map((row) => [row.account_id, row.bytes]));
}
