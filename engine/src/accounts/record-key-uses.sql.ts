import type { Sql } from '../db/database.ts';

/** Epoch milliseconds by key. Nodes that write at the same time keep the later one. */
export async function recordKeyUses(
  sql: Sql,
  uses: readonly (readonly [keyId: string, atMs: number])[],
): Promise<void> {
  const ordered = uses.toSorted(([a], [b]) => (a < b ? -1 : 1));
  await sql`
    with used as (
      select k.id, t.at from unnest(
        ${ordered.map(([id]) => id)}::text[], ${ordered.map(([, atMs]) => atMs / 1000)}::float8[]
      ) as x(id, seconds) cross join lateral (select to_timestamp(x.seconds) as at) as t
      join api_keys k on k.id = x.id and (k.last_used_at is null or k.last_used_at < t.at)
      order by k.id for update of k
    )
    update api_keys k set last_used_at = used.at from used where k.id = used.id`;
}
