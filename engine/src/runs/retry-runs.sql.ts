import type { AbandonedRunChoice } from '../contract/runs.ts';
import { addRunLanes } from './insert-invocations.sql.ts';
import type { Sql } from '../db/database.ts';

export interface AbandonedRunSize {
  id: string;
  /** Characters of its event. */
  chars: number;
}

/** Narrows abandoned runs to those that are chosen. */
export function chosenRuns(sql: Sql, { sourceId, since, until }: AbandonedRunChoice) {
  return sql`
    ${sourceId === undefined ? sql`` : sql`and source_id = ${sourceId}`}
    ${since === undefined ? sql`` : sql`and abandoned_at >= ${since.toISOString()}::timestamptz`}
    ${until === undefined ? sql`` : sql`and abandoned_at < ${until.toISOString()}::timestamptz`}`;
}

/** The next ones that are chosen after an id, oldest first; or the one with an id. */
export async function readAbandonedRunSizes(
  sql: Sql,
  accountId: string,
  choice: AbandonedRunChoice & { id?: string; after: string; limit: number },
): Promise<AbandonedRunSize[]> {
  return sql<AbandonedRunSize[]>`
    select id, length(event) as chars from abandoned_runs
    where account_id = ${accountId} and id > ${choice.after} ${choice.id === undefined ? sql`` : sql`and id = ${choice.id}`}
      ${chosenRuns(sql, choice)}
    order by id limit ${choice.limit}`;
}

/**
 * Makes invocations of abandoned runs again, whole and with their ids, without crashes; their
 * records of having been abandoned go, as runs have one. Answers how many: what another retry has
 * taken already is none of them.
 */
export async function retryRuns(sql: Sql, accountId: string, ids: readonly string[]): Promise<number> {
  return sql.begin(async (tx) => {
    const rows = await tx<{ source_id: string }[]>`
      with taken as (
        delete from abandoned_runs where account_id = ${accountId} and id = any(${[...ids]}::text[]) returning *
      ), told as (
        delete from runs r using taken t where r.id = t.id and r.account_id = ${accountId}
      )
      insert into invocations
        (id, account_id, source_id, kind, http_prop, timer_prop, caused_by, trace_id, hops, claim, event)
      select id, account_id, source_id, kind, http_prop, timer_prop, caused_by, trace_id, hops, claim, event from taken
      returning source_id`;
    await addRunLanes(
      tx,
      rows.map((row) => row.source_id),
    );
    return rows.length;
  });
}

/** Whether the run is under way, or waits to be. */
export async function isInvocation(sql: Sql, accountId: string, id: string): Promise<boolean> {
  const rows = await sql`select from invocations where id = ${id} and account_id = ${accountId}`;
  return rows.length > 0;
}
