import type { Sql } from '../db/database.ts';

/** Whether the id is that of a source, workflow or webhook of the account. */
export async function resourceExists(sql: Sql, accountId: string, id: string): Promise<boolean> {
  const rows = await sql`
    select from emitters where account_id = ${accountId} and id = ${id} and deleted_at is null
    union all select from webhooks where account_id = ${accountId} and id = ${id}`;
  return rows.length > 0;
}
