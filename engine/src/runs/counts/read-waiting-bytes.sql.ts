import type { Sql } from '../../db/database.ts';

/**
 * What the executions of each account that wait have, as it counts for maxWaitingBytes. Rows that
 * earlier versions wrote have `bytes` without what the next run is given and what resumed it, which
 * are nearly all of a row that is large: of such a row they count. Their lengths are read from the
 * rows themselves, not from where long texts are stored.
 */
export async function readWaitingBytes(sql: Sql): Promise<Map<string, number>> {
  const rows = await sql<{ account_id: string; bytes: number }[]>`
    select account_id,
      sum(greatest(bytes, coalesce(octet_length(context), 0) + coalesce(octet_length(resume_data), 0)))::int8 as bytes
    from execution_waits group by account_id`;
  return new Map(rows.map((row) => [row.account_id, row.bytes]));
}
