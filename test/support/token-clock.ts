import type postgres from 'postgres';

/** Lets the time pass after which a connected account needs a new token; every node hears of it. */
export async function makeDue(
  sql: postgres.Sql<{ bigint: number }>,
  id: string,
  { expired = false }: { expired?: boolean } = {},
): Promise<void> {
  await sql`
    update connected_accounts set refresh_at = case when refresh_at is null then null else now() end,
      expires_at = case when ${expired} then now() else expires_at end
    where id = ${id}`;
  await sql`select pg_notify('headwater_connected_account_changed', ${id})`;
}
