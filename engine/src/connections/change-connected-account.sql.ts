import type { Sql } from '../db/database.ts';
import { notifyConnectedAccountChanged } from '../db/notify-changed.ts';

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

/**
 * Records the result of a check or refresh, if the credentials are unchanged. A check does not end
 * a refresh lease.
 */
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

/**
 * Deletes the credentials and returns them, or undefined if the account is deleted already. The row
 * stays, to record the revocation.
 */
export async function deleteConnectedAccount(
  sql: Sql,
  accountId: string,
  id: string,
): Promise<{ credentials: string } | undefined> {
  return sql.begin(async (tx) => {
    const [row] = await tx<{ credentials: string }[]>`
      with last as (
        select id, credentials from connected_accounts
        where account_id = ${accountId} and id = ${id} and deleted_at is null for update)
      update connected_accounts a set deleted_at = now(), credentials = null, version = version + 1, refresh_until = null
      from last where a.id = last.id
      returning last.credentials`;
    if (row !== undefined) await notifyConnectedAccountChanged(tx, id);
    return row;
  });
}

export async function recordRevocation(sql: Sql, accountId: string, id: string, revocation: string): Promise<void> {
  await sql`
    update connected_accounts set revocation = ${revocation} where account_id = ${accountId} and id = ${id}`;
}
