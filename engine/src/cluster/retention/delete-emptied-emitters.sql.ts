import type { Sql } from '../../db/database.ts';

/** By then, work that began before the deletion has ended, and the query sees the rows it left. */
const EMPTY_AFTER = '1 hour';

/**
 * Deletes those of the given deleted emitters to which no event, run, execution, send or stored
 * value refers. Without this, an account could fill the database by making and deleting sources.
 * Their components that were deleted earlier go too. Returns the number of emitters deleted.
 */
export async function deleteEmptiedEmitters(sql: Sql, ids: readonly string[]): Promise<number> {
  const [row] = await sql<{ emitters: number }[]>`
    with gone as (
      delete from emitters e
      where id = any(${[...ids]}::text[]) and deleted_at < now() - ${EMPTY_AFTER}::interval
        and not exists (select from events x where x.emitter_id = e.id)
        and not exists (select from missed_events x where x.emitter_id = e.id)
        and not exists (select from runs x where x.source_id = e.id)
        and not exists (select from live_lines x where x.emitter_id = e.id)
        and not exists (select from invocations x where x.leased_by is null and x.source_id = e.id)
        and not exists (select from nodes n join invocations x on x.leased_by = n.id and x.source_id = e.id)
        and not exists (select from executions x where x.workflow_id = e.id)
        and not exists (select from execution_waits x where x.workflow_id = e.id)
        and not exists (select from sends x where x.workflow_id = e.id)
        and not exists (select from component_db x where x.source_id = e.id)
      returning id, component_id
    ), left_code as (
      -- What the deletion above takes away is still there for this statement.
      delete from components c using (select distinct component_id from gone) as of_gone
      where c.id = of_gone.component_id and c.deleted_at is not null
        and not exists (select from emitters e where e.component_id = c.id and e.id not in (select id from gone))
    )
    select count(*) as emitters from gone`;
  return row?.emitters ?? 0;
}
