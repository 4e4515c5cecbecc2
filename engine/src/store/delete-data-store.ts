import type { Sql } from './database.ts';

/** Deletes a store with its records. Sources that are configured with it find out when they ask it for something. */
export async function deleteDataStore(sql: Sql, accountId: string, id: string): Promise<boolean> {
  const rows = await sql`delete from data_stores where account_id = ${accountId} and id = ${id} returning id`;
  return rows.length > 0;
}
