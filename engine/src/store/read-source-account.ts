import type { Sql } from './database.ts';

/** Whose source it is; undefined where it cannot run. */
export async function readSourceAccount(sql: Sql, sourceId: string): Promise<string | undefined> {
  const [row] = await sql<{ account_id: string }[]>`
    select account_id from sources where id = ${sourceId} and active and deleted_at is null`;
  return row?.account_id;
}
