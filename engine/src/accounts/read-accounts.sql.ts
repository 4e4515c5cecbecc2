import type { AccountSummary } from '../contract/engine.ts';
import type { Sql } from '../db/database.ts';

/**
 * For the operator, the one reader of all accounts. Those of `ids` that exist, in the order of
 * `ids`.
 */
export async function readAccounts(sql: Sql, ids: readonly string[]): Promise<AccountSummary[]> {
  const rows = await sql<{ id: string; name: string; sources: number; created_ms: number }[]>`
    select a.id, a.name, extract(epoch from a.created_at)::float8 * 1000 as created_ms,
      (select count(*)::int4 from sources s
        where s.account_id = a.id and s.deleted_at is null and s.deployed_at is not null) as sources
    from accounts a where a.id = any(${[...ids]}::text[])
    order by array_position(${[...ids]}::text[], a.id)`;
  return rows.map(({ id, name, sources, created_ms }) => ({ id, name, sources, createdAt: new Date(created_ms) }));
}
