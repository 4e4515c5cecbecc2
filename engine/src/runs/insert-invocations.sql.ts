import { ID_PREFIXES } from '@headwater/shared';
import type { EventCause } from '../events/cause.ts';
import type { InvocationKind } from '../events/invocation.ts';
import { TASKS } from '../db/jobs/tasks.ts';
import { addJobs, type JobSpec } from '../db/jobs/add-jobs.ts';
import type { Sql, Transaction } from '../db/database.ts';
import { rowsOf } from '../db/rows-of.ts';

export interface NewInvocation {
  id: string;
  accountId: string;
  sourceId: string;
  kind: InvocationKind;
  /** Kind `http` only: the prop or trigger whose endpoint took the request. */
  httpProp?: string;
  event: string;
  /** Kind `event` only. */
  cause?: EventCause | undefined;
  /** The node that goes on with it at once; absent: any node, through the source's lane. */
  leasedBy?: string;
  /** Only for workflows that take turns: the node that holds the waiting client. */
  wantedBy?: string | undefined;
}

/**
 * One statement for all of them; rows that no node holds get their lanes in the same transaction.
 */
export async function insertInvocations(sql: Sql, rows: readonly NewInvocation[]): Promise<void> {
  if (rows.every((row) => row.leasedBy !== undefined)) {
    await insertInvocationRows(sql, rows);
    return;
  }
  await sql.begin(async (tx) => {
    await insertInvocationRows(tx, rows);
    await addRunLanes(
      tx,
      rows.filter((row) => row.leasedBy === undefined).map((row) => row.sourceId),
    );
  });
}

/** Queues the lanes of these sources; `runAtMs` default: now. */
export async function addRunLanes(
  tx: Sql | Transaction,
  sourceIds: readonly string[],
  runAtMs?: number,
): Promise<void> {
  await addJobs(
    tx,
    [...new Set(sourceIds)].map((sourceId) => runLane(sourceId, runAtMs)),
  );
}

/** The lane job that claims a source's invocations without a lease. `runAtMs` default: now. */
export function runLane(sourceId: string, runAtMs?: number): JobSpec {
  const spec = { task: TASKS.runSource, payload: { sourceId }, key: `run:${sourceId}` };
  return runAtMs === undefined ? spec : { ...spec, runAtMs };
}

/** The rows alone: what no node holds needs a lane in the same transaction. */
export async function insertInvocationRows(sql: Sql | Transaction, rows: readonly NewInvocation[]): Promise<void> {
  await sql`
    insert into invocations
      (id, account_id, source_id, kind, http_prop, caused_by, trace_id, hops, leased_by, wanted_by, event, attempts, claim, place)
    select r.*, (r.leased_by is not null)::int4, (r.leased_by is not null)::int4, ${placeOf(sql)} from ${rowsOf(sql, [
      ['text', rows.map((row) => row.id)],
      ['text', rows.map((row) => row.accountId)],
      ['text', rows.map((row) => row.sourceId)],
      ['text', rows.map((row) => row.kind)],
      ['text', rows.map((row) => row.httpProp ?? null)],
      ['text', rows.map((row) => row.cause?.event ?? null)],
      ['text', rows.map((row) => row.cause?.traceId ?? null)],
      ['int4', rows.map((row) => row.cause?.hops ?? 0)],
      ['text', rows.map((row) => row.leasedBy ?? null)],
      ['text', rows.map((row) => row.wantedBy ?? null)],
      ['long', rows.map((row) => row.event)],
    ])} as r(id, account_id, source_id, kind, http_prop, caused_by, trace_id, hops, leased_by, wanted_by, event)`;
}

/** For an invocation `i`: the prop or trigger that started it, see HeldInvocation. */
export function propNameOf(sql: Sql | Transaction) {
  return sql`coalesce(i.http_prop, i.timer_prop)`;
}

/**
 * For rows with a `source_id`: the place of a workflow's invocation in the order of acceptance.
 * Null for sources.
 */
export function placeOf(sql: Sql | Transaction) {
  return sql`case when starts_with(source_id, ${ID_PREFIXES.workflow}) then nextval('invocation_places') end`;
}
