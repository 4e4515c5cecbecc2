import type { Sql } from '../db/database.ts';

/**
 * Takes the right to fetch new tokens for these credentials, on one node at a time: a refresh token
 * that is used twice may end all tokens of the account. Answers until when, which tells it from a
 * later one; undefined where another node has it, or where the credentials are others by now.
 */
export async function leaseRefresh(
  sql: Sql,
  accountId: string,
  id: string,
  lease: { version: number; seconds: number },
): Promise<string | undefined> {
  const rows = await sql<{ until: string }[]>`
    update connected_accounts set refresh_until = now() + ${lease.seconds}::float8 * interval '1 second'
    where account_id = ${accountId} and id = ${id} and version = ${lease.version} and deleted_at is null
      and (refresh_until is null or refresh_until <= now())
    returning refresh_until::text as until`;
  return rows[0]?.until;
}

/** Releases the lease after a failed fetch, so that another node may try. */
export async function endRefreshLease(
  sql: Sql,
  accountId: string,
  id: string,
  lease: { version: number; until: string },
): Promise<void> {
  await sql`
    update connected_accounts set refresh_until = null
    where account_id = ${accountId} and id = ${id} and version = ${lease.version}
      and refresh_until = ${lease.until}::timestamptz`;
}
