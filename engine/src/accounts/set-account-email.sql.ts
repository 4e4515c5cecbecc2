import type { Sql } from '../db/database.ts';

/**
 * Of the account's first user. Answers the account's name; undefined where there is no such
 * account.
 */
export async function setAccountEmail(sql: Sql, accountId: string, email: string | null): Promise<string | undefined> {
  const [row] = await sql<{ name: string }[]>`
    update users u set email = ${email} from accounts a
    where a.id = ${accountId} and u.id = (
      select id from users where account_id = ${accountId} order by created_at, id limit 1
    )
    returning a.name`;
  return row?.name;
}
