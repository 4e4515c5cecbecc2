import type { Sql } from '../db/database.ts';

/**
 * Whether the code of one of these components calls `$.respond`; see
 * migrations/0038_code_that_responds.sql.
 */
export async function callsRespond(sql: Sql, accountId: string, componentIds: readonly string[]): Promise<boolean> {
  const rows = await sql`
    select from components where account_id = ${accountId} and id = any(${[...componentIds]}::text[]) and calls_respond
    limit 1`;
  return rows.length > 0;
}
