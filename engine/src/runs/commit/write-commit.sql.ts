import type { CommitPlan, RunCommit } from './commit-plan.ts';
import type { DeliveryRow, InvocationRow } from './event-rows.ts';
import { endOverLimit } from './final-commit.ts';
import { addJobs, type JobSpec, rowsOf, type Sql } from '../../db/index.ts';
import { commitExecutions } from './commit-executions.sql.ts';
import { insertSends, lanesOfWaiting, sendLanesOf } from '../../outbox/index.ts';
import { insertWideDeliveries, insertWideInvocations } from './insert-fan-outs.sql.ts';
import { insertAbandonedRuns, insertMissed, insertRunRecords } from './insert-run-records.sql.ts';
import { insertPublishedIds } from './published-ids.sql.ts';
import { insertInvocationRows, runLane } from '../invocations.sql.ts';

/** Rows that this node continues with. */
export interface HeldRows {
  deliveries: ReadonlySet<DeliveryRow>;
  invocations: ReadonlySet<InvocationRow>;
  nodeId: string;
}

/**
 * Writes the plan and ends the transaction. Takes one round trip if this node keeps all the new
 * rows.
 */
export async function writeCommit(
  connection: Sql,
  plan: CommitPlan,
  held: HeldRows,
  restAfter: (tookMs: number) => Promise<void>,
): Promise<void> {
  const statements = [
    insertEvents(connection, plan),
    insertDeliveries(connection, plan, held),
    insertListenerRuns(connection, plan, held),
    insertWideInvocations(connection, plan.fanOuts),
    updateStates(connection, plan),
    writeDbValues(connection, plan),
    insertRunRecords(connection, plan),
    insertAbandonedRuns(connection, plan),
    insertMissed(connection, plan.missed),
    insertPublishedIds(connection, plan),
    endExecutions(connection, plan),
    insertSends(connection, sendsOf(plan), Date.now()),
  ].filter((statement) => statement !== undefined);
  const lanes = lanesOf(plan, held);
  if (lanes.length > 0) {
    await Promise.all(statements);
    // When all else has gone through: between its pieces the transaction must not end.
    await insertWideDeliveries(connection, plan.fanOuts, restAfter);
    await addJobs(connection, lanes);
    await connection`commit`;
    return;
  }
  // After a failed statement `commit` rolls back without an error of its own; the statement's error
  // rejects here.
  await Promise.all([...statements, connection`commit`]);
}

/**
 * Lanes of the rows that this node has no room for. The order is the same everywhere: two commits
 * that add the same lanes must not deadlock.
 */
function lanesOf(plan: CommitPlan, held: HeldRows): JobSpec[] {
  const waiting = plan.deliveries
    .filter((row) => !held.deliveries.has(row) && row.listener.isHeld !== true)
    .map(({ event, listener }) => ({ accountId: event.accountId, webhookId: listener.webhookId }));
  const sourceIds = plan.invocations.filter((row) => !held.invocations.has(row)).map((row) => row.sourceId);
  for (const fanOut of plan.fanOuts) {
    // A listener hears emitters of its own account only.
    const accountId = fanOut.events[0]?.event.accountId ?? '';
    for (const webhookId of [...fanOut.webhookIds.values()].flat())
      if (!fanOut.heldIds.has(webhookId)) waiting.push({ accountId, webhookId });
    for (const ids of fanOut.sourceIds.values()) sourceIds.push(...ids);
  }
  const nowMs = Date.now();
  return [
    ...lanesOfWaiting(waiting),
    ...[...new Set(sourceIds)].map((sourceId) => runLane(sourceId)),
    ...sendLanesOf(sendsOf(plan), nowMs),
  ].sort((a, b) => (a.key < b.key ? -1 : 1));
}

function endExecutions(connection: Sql, { runs }: CommitPlan): Promise<unknown> | undefined {
  const commits = [...runs].flatMap(([{ execution }, { exceeded }]) => {
    if (execution === undefined) return [];
    return [exceeded === undefined ? execution : { ...execution, end: endOverLimit(execution.end, exceeded) }];
  });
  return commits.length === 0 ? undefined : commitExecutions(connection, commits);
}

const sendsOf = ({ runs }: CommitPlan) => [...runs.keys()].flatMap(({ sends = [] }) => sends);

function insertEvents(connection: Sql, { events }: CommitPlan) {
  if (events.length === 0) return undefined;
  return connection`
    insert into events
      (emitter_id, indexed_at_ms, seq, account_id, invocation_id, caused_by, trace_id, queued_ms, ran_ms, channel, emit_id,
        summary, ts, data)
    select * from ${rowsOf(connection, [
      ['text', events.map((event) => event.emitterId)],
      ['int8', events.map((event) => event.position.ms)],
      ['int4', events.map((event) => event.position.seq)],
      ['text', events.map((event) => event.accountId)],
      ['text', events.map((event) => event.invocationId)],
      ['text', events.map((event) => event.cause?.event ?? null)],
      ['text', events.map((event) => event.cause?.traceId ?? null)],
      ['int4', events.map((event) => event.times?.queuedMs ?? null)],
      ['int4', events.map((event) => event.times?.ranMs ?? null)],
      ['text', events.map((event) => event.channel)],
      ['text', events.map((event) => event.emitId)],
      ['text', events.map((event) => event.summary)],
      ['int8', events.map((event) => event.ts)],
      ['long', events.map((event) => event.data)],
    ])} as e`;
}

function insertDeliveries(connection: Sql, { deliveries }: CommitPlan, held: HeldRows) {
  if (deliveries.length === 0) return undefined;
  return connection`
    insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, leased_by, order_key)
    select * from unnest(
      ${deliveries.map((delivery) => delivery.id)}::text[],
      ${deliveries.map((delivery) => delivery.event.accountId)}::text[],
      ${deliveries.map((delivery) => delivery.listener.webhookId)}::text[],
      ${deliveries.map((delivery) => delivery.event.emitterId)}::text[],
      ${deliveries.map((delivery) => delivery.event.position.ms)}::int8[],
      ${deliveries.map((delivery) => delivery.event.position.seq)}::int4[],
      ${deliveries.map((delivery) => (held.deliveries.has(delivery) ? held.nodeId : null))}::text[],
      ${deliveries.map((delivery) => delivery.orderKey ?? null)}::text[])`;
}

function insertListenerRuns(connection: Sql, { invocations }: CommitPlan, held: HeldRows) {
  if (invocations.length === 0) return undefined;
  return insertInvocationRows(
    connection,
    invocations.map((row) => ({
      ...listenerRun(row),
      ...(held.invocations.has(row) ? { leasedBy: held.nodeId } : {}),
    })),
  );
}

/** The invocation of a source that listens. */
export function listenerRun({ id, sourceId, event, cause }: InvocationRow) {
  return { id, accountId: event.accountId, sourceId, kind: 'event' as const, event: event.data, cause };
}

/** No JSON text. */
const AS_BEFORE = '';

function updateStates(connection: Sql, { states, dedupes }: CommitPlan) {
  if (states.size === 0) return undefined;
  const rows = [...states];
  const dedupeOf = (id: string) => {
    if (!dedupes.has(id)) return AS_BEFORE;
    const state = dedupes.get(id);
    return state === undefined ? null : JSON.stringify(state);
  };
  return connection`
    update emitter_state e set last_event_ms = s.ms, last_event_seq = s.seq, db_bytes = s.db_bytes,
      dedupe = case when s.dedupe = ${AS_BEFORE} then e.dedupe else s.dedupe::jsonb end
    from ${rowsOf(connection, [
      ['text', rows.map(([id]) => id)],
      ['int8', rows.map(([, state]) => state.last.ms)],
      ['int4', rows.map(([, state]) => state.last.seq)],
      ['int8', rows.map(([, state]) => state.db.bytes)],
      ['long', rows.map(([id]) => dedupeOf(id))],
    ])} as s(id, ms, seq, db_bytes, dedupe)
    where e.emitter_id = s.id`;
}

function writeDbValues(connection: Sql, { runs }: CommitPlan) {
  const rows = new Map<string, { run: RunCommit; key: string; value: string }>();
  for (const [run, { dbWrites }] of runs) {
    for (const [key, value] of dbWrites) rows.set(`${run.sourceId} ${key}`, { run, key, value });
  }
  if (rows.size === 0) return undefined;
  const entries = [...rows.values()];
  // The emitters' rows are locked: no other transaction writes these keys.
  return connection`
    with written as (
      select * from ${rowsOf(connection, [
        ['text', entries.map((row) => row.run.sourceId)],
        ['text', entries.map((row) => row.key)],
        ['text', entries.map((row) => row.run.accountId)],
        ['long', entries.map((row) => row.value)],
      ])} as w(source_id, key, account_id, value)
    ), deleted as (
      delete from component_db d using written w where d.source_id = w.source_id and d.key = w.key and w.value = ''
    )
    insert into component_db (source_id, key, account_id, value) select * from written where value <> ''
    on conflict (source_id, key) do update set value = excluded.value`;
}
