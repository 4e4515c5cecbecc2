import type { Sql } from '../db/index.ts';

/** Whether the account has such a source or workflow, deployed and not deleted. */
export async function emitterExists(sql: Sql, accountId: string, id: string): Promise<boolean> {
  const rows = await sql`
    select from emitters
    where account_id = ${accountId} and id = ${id} and deleted_at is null and deployed_at is not null`;
  return rows.length > 0;
}
