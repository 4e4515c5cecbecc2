import type { Sql } from './database.ts';

/**
 * Takes the right to fetch new tokens for these credentials, on one node at a time: a refresh token that is used twice may
 * end all tokens of the account. False where another node has it, or where the credentials are others by now.
 */
export async function leaseRefresh(
  sql: Sql,
  accountId: string,
  id: string,
  lease: { version: number; seconds: number },
): Promise<boolean> {
  const rows = await sql`
    update connected_accounts set refresh_until = now() + ${lease.seconds}::float8 * interval '1 second'
    where account_id = ${accountId} and id = ${id} and version = ${lease.version} and deleted_at is null
      and (refresh_until is null or refresh_until <= now())
    returning id`;
  return rows.length > 0;
}

/** Nothing was fetched; the next who needs a token may try. */
export async function endRefreshLease(sql: Sql, accountId: string, id: string, version: number): Promise<void> {
  await sql`
    update connected_accounts set refresh_until = null
    where account_id = ${accountId} and id = ${id} and version = ${version}`;
}
