import type { Sql, Transaction } from '../db/database.ts';

/** The oldest user of the oldest account, if there is any. */
export async function readFirstUser(tx: Sql | Transaction): Promise<{ accountId: string; userId: string } | undefined> {
  const [row] = await tx<{ account_id: string; user_id: string }[]>`
    select a.id as account_id, u.id as user_id
    from accounts a join users u on u.account_id = a.id
    where a.deleted_at is null
    order by a.created_at, a.id, u.created_at, u.id limit 1`;
  return row && { accountId: row.account_id, userId: row.user_id };
}

/** Undefined where there is no such account. */
export async function readOldestUser(sql: Sql, accountId: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select id from users where account_id = (select id from accounts where id = ${accountId} and deleted_at is null) order by created_at, id limit 1`;
  return row?.id;
}
