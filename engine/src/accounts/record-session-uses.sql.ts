import type { Sql } from '../db/database.ts';

/** As recordKeyUses, for sessions of members. */
export async function recordSessionUses(
  sql: Sql,
  uses: readonly (readonly [sessionId: string, atMs: number])[],
): Promise<void> {
  const ordered = uses.toSorted(([a], [b]) => (a < b ? -1 : 1));
  await sql`
    with used as (
      select s.id, t.at from unnest(
        ${ordered.map(([id]) => id)}::text[], ${ordered.map(([, atMs]) => atMs / 1000)}::float8[]
      ) as x(id, seconds) cross join lateral (select to_timestamp(x.seconds) as at) as t
      join user_sessions s on s.id = x.id and s.last_used_at < t.at
      order by s.id for update of s
    )
    update user_sessions s set last_used_at = used.at from used where s.id = used.id`;
}
