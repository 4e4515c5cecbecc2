import type { Sql } from '../../../db/index.ts';

/** The address of the account's first user that has one. */
export async function readAccountEmail(sql: Sql, accountId: string): Promise<string | undefined> {
  const [row] = await sql<{ email: string }[]>`
    select email from users where account_id = ${accountId} and email is not null order by created_at, id limit 1`;
  return row?.email;
}
