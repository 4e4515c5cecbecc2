import {
  type CommitPlan,
  type DeliveryRow,
  type EmitterState,
  type Listener,
  planCommit,
  type RunCommit,
  type RunRow,
} from '../events/commit-plan.ts';
import type { DedupeState } from '../events/dedupe.ts';
import type { WebhookOf } from '../delivery/deliverer.ts';
import { addJobs } from './add-jobs.ts';
import { type DbSizeRow, readDbSizes } from './read-db-sizes.ts';
import type { ExceededLimit } from '@headwater/shared';
import type { Sql } from './database.ts';
import { deliverLane } from './deliver-lane.ts';

export interface CommitOptions {
  nodeId: string;
  /** How many of the new deliveries, in all and of one webhook, this node takes on at once; the rest waits for any node. */
  deliveryCapacity: (webhook?: WebhookOf) => number;
  nowMs: () => number;
}

export interface CommittedRun {
  /** False: the lease was lost or the source is gone, and nothing of this run was written. */
  committed: boolean;
  events: number;
  /** Deliveries that this node now holds. */
  deliveries: DeliveryRow[];
  /** Values of `$.service.db` did not fit and were left out. */
  exceeded?: ExceededLimit;
  /** What was written of the run; absent where it left no record. */
  record?: RunRow;
}

/**
 * One transaction for many runs: the ends of their invocations, dedupe states, `$.service.db` writes, events, deliveries,
 * run records and jobs land together. Two round trips: lock and read, then write and commit.
 *
 * Exactness: emitter rows are locked in id order before anything is decided, so two nodes never decide on the same state;
 * a run whose invocation is no longer leased by its node is left out, so no run commits twice.
 */
export async function commitRuns(
  sql: Sql,
  runs: readonly RunCommit[],
  options: CommitOptions,
): Promise<CommittedRun[]> {
  const connection = await sql.reserve();
  try {
    const read = await lockAndRead(connection, runs);
    const alive = runs.filter((run) => isStillOurs(run, read.ours) && read.states.has(run.sourceId));
    const plan = planCommit(alive, read.states, read.listeners, options.nowMs());
    const held = chooseHeld(plan.deliveries, options.deliveryCapacity);
    await write(connection, plan, held, options.nodeId);
    return summarize(runs, plan, held);
  } catch (error) {
    // The connection may be the very thing that failed; the error that matters is the first.
    await connection`rollback`.catch(() => undefined);
    throw error;
  } finally {
    connection.release();
  }
}

/** What this node has room for, oldest first. */
function chooseHeld(deliveries: readonly DeliveryRow[], capacity: CommitOptions['deliveryCapacity']): Set<DeliveryRow> {
  let left = capacity();
  const leftByWebhook = new Map<string, number>();
  const held = new Set<DeliveryRow>();
  for (const delivery of deliveries) {
    const { accountId, webhookId } = delivery.listener;
    const leftHere = leftByWebhook.get(webhookId) ?? capacity({ accountId, webhookId });
    if (left <= 0 || leftHere <= 0) continue;
    held.add(delivery);
    left--;
    leftByWebhook.set(webhookId, leftHere - 1);
  }
  return held;
}

interface Read {
  ours: Set<string>;
  states: Map<string, EmitterState>;
  listeners: Listener[];
}

async function lockAndRead(connection: Sql, runs: readonly RunCommit[]): Promise<Read> {
  const ended = leases(runs.filter((run) => run.final));
  const going = leases(runs.filter((run) => !run.final));
  const sourceIds = [...new Set(runs.map((run) => run.sourceId))];
  const accountIds = [...new Set(runs.map((run) => run.accountId))];
  // Sent together, answered in order: one round trip.
  const [, endedRows, goingRows, stateRows, sizeRows, listenerRows] = await Promise.all([
    connection`begin`,
    ended.ids.length === 0
      ? []
      : connection<{ id: string }[]>`
        delete from invocations i using unnest(${ended.ids}::text[], ${ended.nodes}::text[]) as mine(id, node)
        where i.id = mine.id and i.leased_by = mine.node returning i.id`,
    going.ids.length === 0
      ? []
      : connection<{ id: string }[]>`
        select i.id from invocations i join unnest(${going.ids}::text[], ${going.nodes}::text[]) as mine(id, node)
        on i.id = mine.id and i.leased_by = mine.node for update of i`,
    connection<StateColumns[]>`
      select emitter_id, last_event_ms, last_event_seq, dedupe, db_bytes from emitter_state
      where emitter_id = any(${sourceIds}::text[]) order by emitter_id for update`,
    // After the locks: nobody else changes these entries until this commit is through.
    readDbSizes(connection, runs),
    connection<ListenerColumns[]>`
      select s.account_id, s.emitter_id, s.event_name, w.id, w.url, w.secret, w.format
      from subscriptions s join webhooks w on w.id = s.listener_id and w.account_id = s.account_id and w.active
      where s.account_id = any(${accountIds}::text[]) and s.emitter_id = any(${[...sourceIds, 'dc_*']}::text[])`,
  ]);
  return {
    ours: new Set([...endedRows, ...goingRows].map((row) => row.id)),
    states: statesOf(stateRows, sizeRows),
    listeners: listenerRows.map(listenerOf),
  };
}

interface StateColumns {
  emitter_id: string;
  last_event_ms: number;
  last_event_seq: number;
  dedupe: DedupeState | null;
  db_bytes: number;
}

function statesOf(rows: readonly StateColumns[], sizes: readonly DbSizeRow[]): Map<string, EmitterState> {
  const bySource = Map.groupBy(sizes, (size) => size.source_id);
  const byKeyOf = (id: string) => new Map(bySource.get(id)?.map(({ key, bytes }) => [key, bytes]));
  return new Map(
    rows.map(({ emitter_id: id, last_event_ms: ms, last_event_seq: seq, dedupe, db_bytes: bytes }) => [
      id,
      { last: { ms, seq }, dedupe: dedupe ?? undefined, db: { bytes, byKey: byKeyOf(id) } },
    ]),
  );
}

interface ListenerColumns {
  account_id: string;
  emitter_id: string;
  event_name: string;
  id: string;
  url: string;
  secret: string;
  format: 'raw' | 'envelope';
}

function listenerOf(row: ListenerColumns): Listener {
  return {
    accountId: row.account_id,
    emitterId: row.emitter_id,
    channel: row.event_name,
    webhookId: row.id,
    url: row.url,
    sealedSecret: row.secret,
    format: row.format,
  };
}

function leases(runs: readonly RunCommit[]): { ids: string[]; nodes: string[] } {
  const held = runs.flatMap((run) => (run.invocation === undefined ? [] : [run.invocation]));
  return { ids: held.map((invocation) => invocation.id), nodes: held.map((invocation) => invocation.leasedBy) };
}

function isStillOurs(run: RunCommit, ours: ReadonlySet<string>): boolean {
  return run.invocation === undefined || ours.has(run.invocation.id);
}

async function write(connection: Sql, plan: CommitPlan, held: ReadonlySet<DeliveryRow>, nodeId: string): Promise<void> {
  const statements = [
    insertEvents(connection, plan),
    insertDeliveries(connection, plan, held, nodeId),
    updateStates(connection, plan),
    upsertDbValues(connection, plan),
    insertRunRecords(connection, plan),
  ].filter((statement) => statement !== undefined);
  const left = plan.deliveries.filter((delivery) => !held.has(delivery));
  if (left.length > 0) {
    await Promise.all(statements);
    const webhookIds = new Set(left.map((delivery) => delivery.listener.webhookId));
    const nowMs = Date.now();
    await addJobs(
      connection,
      [...webhookIds].map((webhookId) => deliverLane(webhookId, nowMs)),
    );
    await connection`commit`;
    return;
  }
  // After a failed statement `commit` rolls back without an error of its own; the statement's error rejects here.
  await Promise.all([...statements, connection`commit`]);
}

function insertEvents(connection: Sql, { events }: CommitPlan) {
  if (events.length === 0) return undefined;
  return connection`
    insert into events
      (emitter_id, indexed_at_ms, seq, account_id, invocation_id, channel, emit_id, summary, ts, data)
    select * from unnest(
      ${events.map((event) => event.emitterId)}::text[], ${events.map((event) => event.position.ms)}::int8[],
      ${events.map((event) => event.position.seq)}::int4[], ${events.map((event) => event.accountId)}::text[],
      ${events.map((event) => event.invocationId)}::text[], ${events.map((event) => event.channel)}::text[],
      ${events.map((event) => event.emitId)}::text[], ${events.map((event) => event.summary)}::text[],
      ${events.map((event) => event.ts)}::int8[], ${events.map((event) => event.data)}::text[])`;
}

function insertDeliveries(connection: Sql, { deliveries }: CommitPlan, held: ReadonlySet<DeliveryRow>, nodeId: string) {
  if (deliveries.length === 0) return undefined;
  return connection`
    insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, leased_by)
    select * from unnest(
      ${deliveries.map((delivery) => delivery.id)}::text[],
      ${deliveries.map((delivery) => delivery.event.accountId)}::text[],
      ${deliveries.map((delivery) => delivery.listener.webhookId)}::text[],
      ${deliveries.map((delivery) => delivery.event.emitterId)}::text[],
      ${deliveries.map((delivery) => delivery.event.position.ms)}::int8[],
      ${deliveries.map((delivery) => delivery.event.position.seq)}::int4[],
      ${deliveries.map((delivery) => (held.has(delivery) ? nodeId : null))}::text[])`;
}

function updateStates(connection: Sql, { states }: CommitPlan) {
  if (states.size === 0) return undefined;
  const rows = [...states];
  return connection`
    update emitter_state e set last_event_ms = s.ms, last_event_seq = s.seq, dedupe = s.dedupe::jsonb, db_bytes = s.db_bytes
    from unnest(
      ${rows.map(([id]) => id)}::text[], ${rows.map(([, state]) => state.last.ms)}::int8[],
      ${rows.map(([, state]) => state.last.seq)}::int4[],
      ${rows.map(([, state]) => (state.dedupe === undefined ? null : JSON.stringify(state.dedupe)))}::text[],
      ${rows.map(([, state]) => state.db.bytes)}::int8[]
    ) as s(id, ms, seq, dedupe, db_bytes)
    where e.emitter_id = s.id`;
}

function upsertDbValues(connection: Sql, { runs }: CommitPlan) {
  const rows = new Map<string, { run: RunCommit; key: string; value: string }>();
  for (const [run, { dbWrites }] of runs) {
    for (const [key, value] of dbWrites) rows.set(`${run.sourceId} ${key}`, { run, key, value });
  }
  if (rows.size === 0) return undefined;
  // In one order everywhere: two transactions that write the same keys wait for each other instead of deadlocking.
  const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  return connection`
    insert into component_db (source_id, key, account_id, value)
    select * from unnest(
      ${sorted.map((row) => row.run.sourceId)}::text[], ${sorted.map((row) => row.key)}::text[],
      ${sorted.map((row) => row.run.accountId)}::text[], ${sorted.map((row) => row.value)}::text[])
    on conflict (source_id, key) do update set value = excluded.value`;
}

function insertRunRecords(connection: Sql, { runs }: CommitPlan) {
  const rows = [...runs].flatMap(([run, { record }]) => (record === undefined ? [] : [{ run, record }]));
  if (rows.length === 0) return undefined;
  return connection`
    insert into runs (id, account_id, source_id, kind, status, error_code, error_message, error_stack, error_limit,
      logs, started_at, ended_at)
    select id, account_id, source_id, kind, case when code is null then 'ok' else 'error' end, code, message, stack,
      error_limit::jsonb, logs, to_timestamp(started / 1000.0), to_timestamp(ended / 1000.0)
    from unnest(
      ${rows.map(({ record }) => record.id)}::text[], ${rows.map(({ run }) => run.accountId)}::text[],
      ${rows.map(({ run }) => run.sourceId)}::text[], ${rows.map(({ record }) => record.kind)}::text[],
      ${rows.map(({ record }) => record.errorCode ?? null)}::text[],
      ${rows.map(({ record }) => record.errorMessage ?? null)}::text[],
      ${rows.map(({ record }) => record.errorStack ?? null)}::text[],
      ${rows.map(({ record }) => (record.errorLimit === undefined ? null : JSON.stringify(record.errorLimit)))}::text[],
      ${rows.map(({ record }) => record.logs)}::text[],
      ${rows.map(({ record }) => record.startedAtMs)}::float8[], ${rows.map(({ record }) => record.endedAtMs)}::float8[]
    ) as r(id, account_id, source_id, kind, code, message, stack, error_limit, logs, started, ended)`;
}

function summarize(runs: readonly RunCommit[], plan: CommitPlan, held: ReadonlySet<DeliveryRow>): CommittedRun[] {
  const eventsBySource = Map.groupBy(plan.events, (event) => event.invocationId ?? event.emitterId);
  const heldByRun = Map.groupBy([...held], ({ event }) => event.invocationId ?? event.emitterId);
  return runs.map((run) => {
    const key = run.invocation?.id ?? run.sourceId;
    const planned = plan.runs.get(run);
    return {
      committed: planned !== undefined,
      events: eventsBySource.get(key)?.length ?? 0,
      deliveries: heldByRun.get(key) ?? [],
      ...(planned?.exceeded === undefined ? {} : { exceeded: planned.exceeded }),
      ...(planned?.record === undefined ? {} : { record: planned.record }),
    };
  });
}
