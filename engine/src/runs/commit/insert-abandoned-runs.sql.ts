import type { CommitPlan } from './commit-plan.ts';
import type { Sql } from '../../db/database.ts';
import { rowsOf } from '../../db/rows-of.ts';

/** The invocations that these commits give up, whole. */
export function insertAbandonedRuns(connection: Sql, { runs }: CommitPlan) {
  const rows = [...runs.keys()].flatMap(({ abandoned, record }) =>
    abandoned === undefined ? [] : [{ ...abandoned, message: record?.errorMessage ?? '' }],
  );
  if (rows.length === 0) return undefined;
  const propOf = (isTimer: boolean) =>
    rows.map(({ kind, propName }) => ((kind === 'timer') === isTimer ? (propName ?? null) : null));
  return connection`
    insert into abandoned_runs
      (id, account_id, source_id, kind, http_prop, timer_prop, caused_by, trace_id, hops, error_message, claim, event)
    select * from ${rowsOf(connection, [
      ['text', rows.map(({ id }) => id)],
      ['text', rows.map(({ accountId }) => accountId)],
      ['text', rows.map(({ sourceId }) => sourceId)],
      ['text', rows.map(({ kind }) => kind)],
      ['text', propOf(false)],
      ['text', propOf(true)],
      ['text', rows.map(({ cause }) => cause?.event ?? null)],
      ['text', rows.map(({ cause }) => cause?.traceId ?? null)],
      ['int4', rows.map(({ cause }) => cause?.hops ?? 0)],
      ['text', rows.map(({ message }) => message)],
      ['int4', rows.map(({ claim }) => claim)],
      ['long', rows.map(({ event }) => event)],
    ])} as r(id, account_id, source_id, kind, http_prop, timer_prop, caused_by, trace_id, hops, error_message, claim, event)`;
}
