import type { Sql } from '../../db/database.ts';

/**
 * Bytes of waiting executions by account, as counted for maxWaitingBytes. In rows of earlier
 * versions, `bytes` lacks the next run's input and the resume data. Those are nearly all of a large
 * row, so they count there. Postgres reads their lengths from the rows, not from the long texts.
 */
export async function readWaitingBytes(sql: Sql): Promise<Map<string, number>> {
  const rows = await sql<{ account_id: string; bytes: number }[]>`
    select account_id,
      sum(greatest(bytes, coalesce(octet_length(context), 0) + coalesce(octet_length(resume_data), 0)))::int8 as bytes
    from execution_waits group by account_id`;
  return new Map(rows.map((row) => [row.account_id, row.bytes]));
}
