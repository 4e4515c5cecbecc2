import type { Sql, Transaction } from '../db/database.ts';

/** An account and its first user, in the caller's transaction. */
export async function insertAccount(
  tx: Sql | Transaction,
  account: { id: string; name: string },
  user: { id: string; username: string; email?: string },
): Promise<void> {
  await tx`insert into accounts (id, name) values (${account.id}, ${account.name})`;
  await tx`
    insert into users (id, account_id, username, email)
    values (${user.id}, ${account.id}, ${user.username}, ${user.email ?? null})`;
}
