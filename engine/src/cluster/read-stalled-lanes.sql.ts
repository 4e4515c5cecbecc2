import type { Sql } from '../db/database.ts';

/**
 * Active sources and workflows with invocations that have waited without a lease for `afterMs`.
 * Skips paused workflows and suspended accounts, whose invocations stay. Includes deleted ones:
 * their lane deletes invocations that were committed during the deletion. Steps from one to the
 * next through the index, however many rows each has.
 */
export async function readStalledLanes(sql: Sql, afterMs: number): Promise<string[]> {
  const rows = await sql<{ source_id: string }[]>`
    with recursive waiting(source_id) as (
      (select source_id from invocations where leased_by is null order by leased_by, source_id limit 1)
      union all
      select (
        select source_id from invocations where leased_by is null and source_id > waiting.source_id
        order by leased_by, source_id limit 1
      ) from waiting where waiting.source_id is not null
    )
    select s.id as source_id from waiting
    join emitters s on s.id = waiting.source_id and (s.active or s.deleted_at is not null)
    join accounts a on a.id = s.account_id and (a.suspended_at is null or s.deleted_at is not null)
    left join deployments d on s.in_turn and d.id = s.deployment_id
    where (s.deleted_at is not null or (d.settings #>> '{throttle,limit}') is distinct from '0') and (
      select created_at from invocations i where i.leased_by is null and i.source_id = s.id
      order by i.leased_by, i.source_id, i.id limit 1
    ) < now() - make_interval(secs => ${afterMs / 1000}::float8)`;
  return rows.map((row) => row.source_id);
}
