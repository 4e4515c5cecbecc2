import type { Sql } from './database.ts';
import { notifyConnectedAccountChanged } from './notify-changed.ts';

export async function renameConnectedAccount(
  sql: Sql,
  accountId: string,
  id: string,
  name: string | null,
): Promise<void> {
  await sql`
    update connected_accounts set name = ${name}, updated_at = now()
    where account_id = ${accountId} and id = ${id} and deleted_at is null`;
}

/** What was found out about its credentials, where they are still those. A check leaves the lease of a refresh to who has it. */
export async function recordHealth(
  sql: Sql,
  accountId: string,
  id: string,
  found: { version: number; state: 'healthy' | 'dead'; reason: string | null; isCheck: boolean },
): Promise<void> {
  const { version, state, reason, isCheck } = found;
  await sql.begin(async (tx) => {
    const rows = await tx`
      update connected_accounts
      set state = ${state}, reason = ${reason}, refresh_until = case when ${isCheck} then refresh_until end,
        checked_at = case when ${isCheck} then now() else checked_at end
      where account_id = ${accountId} and id = ${id} and version = ${version} and deleted_at is null
      returning id`;
    if (rows.length > 0) await notifyConnectedAccountChanged(tx, id);
  });
}

/** False where it is gone already. Its credentials are gone with it; the row stays, for what is recorded next. */
export async function deleteConnectedAccount(sql: Sql, accountId: string, id: string): Promise<boolean> {
  return sql.begin(async (tx) => {
    const rows = await tx`
      update connected_accounts set deleted_at = now(), credentials = null, version = version + 1, refresh_until = null
      where account_id = ${accountId} and id = ${id} and deleted_at is null
      returning id`;
    if (rows.length > 0) await notifyConnectedAccountChanged(tx, id);
    return rows.length > 0;
  });
}

export async function recordRevocation(sql: Sql, accountId: string, id: string, revocation: string): Promise<void> {
  await sql`
    update connected_accounts set revocation = ${revocation} where account_id = ${accountId} and id = ${id}`;
}
