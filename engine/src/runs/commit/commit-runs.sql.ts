import {
  beganWith,
  channelOf,
  type CommitPlan,
  type EmittedCounts,
  type EmitterState,
  planCommit,
  type RunCommit,
  type RunRow,
} from './commit-plan.ts';
import {
  ERRORS_CHANNEL,
  type EventPosition,
  type HeldInvocation,
  LOGS_CHANNEL,
  type StatCount,
} from '../../events/index.ts';
import { chooseDeliveries, chooseInvocations, type NodeRoom } from './choose-held.ts';
import type { DedupeState } from './dedupe.ts';
import type { DeliveryRow, EventRow, InvocationRow } from './event-rows.ts';
import type { Listener } from './listeners.ts';
import type { RoomFor, RoomForHeld } from './plan-listeners.ts';
import type { PublishedEvent } from './published.ts';
import { NOTHING_QUEUED, type Queued, sumOf } from './queued.ts';
import type { AccountBacklogs } from '../counts/account-backlogs.ts';
import type { AccountSums } from '../counts/account-sums.ts';
import { type DbSizeRow, readDbSizes } from './read-db-sizes.sql.ts';
import type { ExceededLimit } from '@headwater/shared';
import { lockChanges, rollBackReserved, type Sql, wasHeldUp } from '../../db/index.ts';
import { countCommittedStats } from './count-commit.ts';
import { countCommit } from './history-bytes.ts';
import type { HistoryCount } from '../../accounts/index.ts';
import { knownIds, type PublishedIdRow, readPublishedIds } from './published-ids.sql.ts';
import { listenerOf, readListeners } from './read-listeners.sql.ts';
import { endQuietRuns, endsQuietly } from './end-quiet-runs.sql.ts';
import { type HeldRows, listenerRun, writeCommit } from './write-commit.sql.ts';

export interface CommitOptions extends NodeRoom {
  nodeId: string;
  /** Default: there is no limit on what waits. */
  backlogs?: Pick<AccountBacklogs, 'exceeded' | 'isFull' | 'mayHold' | 'add'> | undefined;
  /** Known size of all `$.service.db` of an account. Default: no limit. */
  dbSizes?: Pick<AccountSums, 'of' | 'add'> | undefined;
  /** Default: it is not counted. */
  history?: HistoryCount | undefined;
  /** Default: nothing is counted. */
  stats?: StatCount | undefined;
  /**
   * Called between pieces of a heavy commit, with the time of the last piece. Default: no pauses.
   */
  restAfter?: ((tookMs: number) => Promise<void>) | undefined;
  /** Maximum wait for locks of other transactions: see wasHeldUp. Default: no limit. */
  maxLockMs?: number | undefined;
  nowMs: () => number;
}

export interface CommittedRun {
  /**
   * False: the lease of the run or change was lost or the source is gone, and nothing of this run
   * was written.
   */
  committed: boolean;
  events: number;
  /** Their rows. Absent if it is not committed. */
  rows?: readonly EventRow[];
  /** The counts of the run's events, earlier parts included. Absent if it is not committed. */
  counts?: EmittedCounts;
  /** Deliveries that this node now holds. */
  deliveries: DeliveryRow[];
  /** Invocations of listening sources that this node now holds. */
  invocations: HeldInvocation[];
  /** Values of `$.service.db` did not fit and were left out. */
  exceeded?: ExceededLimit;
  /** The newest position of its emitter, if it has changed. */
  last?: EventPosition;
  /** The stored record of the run; absent if it left none. */
  record?: RunRow;
  /** The outcomes of published events, in the order given. */
  published?: readonly PublishedEvent[];
  /** None of them was stored: the limit that leaves them no room. */
  refused?: ExceededLimit;
}

/**
 * One transaction for many runs: the ends of their invocations, dedupe states, `$.service.db`
 * writes, events, deliveries, run records and jobs commit together. Two round trips: lock and read,
 * then write and commit.
 *
 * Exactness has three parts:
 * - Emitter rows are locked in id order before any decision, so two nodes never decide on the same
 *   state.
 * - A run whose invocation its node no longer leases is left out, so no run commits twice.
 * - A hook whose change was taken over is left out, so it overwrites nothing of the hooks that ran
 *   instead.
 */
export async function commitRuns(
  sql: Sql,
  runs: readonly RunCommit[],
  options: CommitOptions,
): Promise<CommittedRun[]> {
  if (runs.every(endsQuietly)) {
    try {
      return await endQuietRuns(sql, runs, options);
    } catch (error) {
      // The transaction below waits for the lock as long as it may, and finds out whose it is.
      if (!wasHeldUp(error)) throw error;
    }
  }
  const connection = await sql.reserve();
  try {
    const read = await lockAndRead(connection, runs, options.maxLockMs);
    const alive = runs.filter((run) => isStillOurs(run, read) && read.states.has(run.sourceId));
    const listeners = read.listeners.map((listener) => withFull(listener, options.backlogs));
    const roomForHeld = roomForHeldIn(options.backlogs);
    const room = { roomFor: roomIn(options.backlogs), roomForHeld, dbBytesOf: options.dbSizes?.of };
    const plan = planCommit(alive, read.states, listeners, options.nowMs(), room);
    const held: HeldRows = {
      deliveries: chooseDeliveries(plan.deliveries, options),
      invocations: chooseInvocations(plan.invocations, options.runCapacity),
      nodeId: options.nodeId,
    };
    await writeCommit(connection, plan, held, options.restAfter ?? (() => Promise.resolve()));
    for (const [accountId, more] of waitingOf(plan, held)) options.backlogs?.add(accountId, more);
    for (const [accountId, bytes] of plan.dbGrowth) options.dbSizes?.add(accountId, bytes);
    if (options.history !== undefined) countCommit(plan, options.history);
    if (options.stats !== undefined) countCommittedStats(plan, options.stats);
    connection.release();
    return summarize(runs, plan, held);
  } catch (error) {
    await rollBackReserved(connection, error);
    throw error;
  }
}

function withFull(listener: Listener, backlogs: CommitOptions['backlogs']): Listener {
  if (listener.kind !== 'webhook' || backlogs?.isFull(listener.accountId, listener.webhookId) !== true) return listener;
  return { ...listener, isFull: true };
}

/** Work that one run of a commit queues counts for the next run in it. */
function roomIn(backlogs: CommitOptions['backlogs']): RoomFor | undefined {
  if (backlogs === undefined) return undefined;
  const planned = new Map<string, Queued>();
  return (accountId, more) => {
    const all = sumOf(planned.get(accountId) ?? NOTHING_QUEUED, more);
    const limit = backlogs.exceeded(accountId, all);
    if (limit === undefined) planned.set(accountId, all);
    return limit;
  };
}

function roomForHeldIn(backlogs: CommitOptions['backlogs']): RoomForHeld | undefined {
  if (backlogs === undefined) return undefined;
  const planned = new Map<string, number>();
  return (accountId, more) => {
    const all = (planned.get(accountId) ?? 0) + more;
    if (!backlogs.mayHold(accountId, all)) return false;
    planned.set(accountId, all);
    return true;
  };
}

/** By account, what this node does not go on with itself. */
function waitingOf(plan: CommitPlan, held: HeldRows): Map<string, Queued> {
  const waiting = new Map<string, Queued>();
  const add = (accountId: string, more: Partial<Queued>) =>
    waiting.set(accountId, sumOf(waiting.get(accountId) ?? NOTHING_QUEUED, more));
  for (const row of plan.invocations) {
    if (!held.invocations.has(row)) add(row.event.accountId, { invocations: 1, chars: row.event.data.length });
  }
  for (const row of plan.deliveries) {
    if (row.listener.isHeld === true) add(row.event.accountId, { held: 1 });
    else if (!held.deliveries.has(row)) add(row.event.accountId, { deliveries: 1 });
  }
  for (const { events, webhookIds, heldIds, sourceIds } of plan.fanOuts) {
    for (const { event, heardKey } of events) {
      const sources = sourceIds.get(heardKey)?.length ?? 0;
      const ids = webhookIds.get(heardKey) ?? [];
      const onHold = ids.filter((id) => heldIds.has(id)).length;
      const deliveries = ids.length - onHold;
      add(event.accountId, { deliveries, held: onHold, invocations: sources, chars: sources * event.data.length });
    }
  }
  return waiting;
}

interface Read {
  /** Runs that still hold their invocation under the lease that they state. */
  ours: Set<RunCommit>;
  changes: Set<string>;
  states: Map<string, EmitterState>;
  listeners: Listener[];
}

async function lockAndRead(connection: Sql, runs: readonly RunCommit[], maxLockMs: number | undefined): Promise<Read> {
  // The end of an execution deletes its invocation when it is written.
  const held = leases(runs, (run) => run.final && run.execution === undefined);
  const sourceIds = [...new Set(runs.map((run) => run.sourceId))];
  const emitting = [...new Set(runs.filter(({ emits }) => emits.length > 0).map((run) => run.sourceId))];
  const accountIds = [...new Set(runs.map((run) => run.accountId))];
  // Sent together, answered in order: one round trip.
  const [, , changeRows, ourRows, stateRows, sizeRows, publishedRows, listenerRows] = await Promise.all([
    connection`begin`,
    maxLockMs === undefined ? [] : connection`select set_config('lock_timeout', ${`${maxLockMs}ms`}, true)`,
    lockChanges(
      connection,
      runs.flatMap(({ change }) => change ?? []),
    ),
    held.ids.length === 0
      ? []
      : // In the order of their ids, whatever becomes of them: two transactions never wait for each other.
        connection<LeaseRow[]>`
        with ours as materialized (
          select i.id, i.leased_by, i.claim, mine.ends from invocations i
          join unnest(${held.ids}::text[], ${held.nodes}::text[], ${held.claims}::int4[], ${held.ends}::int4[])
            as mine(id, node, claim, ends)
          on i.id = mine.id and i.leased_by = mine.node and i.claim = mine.claim order by i.id for update of i
        ), ended as (
          delete from invocations i using ours where i.id = ours.id and ours.ends = 1
        )
        select id, leased_by, claim from ours`,
    connection<StateColumns[]>`
      select emitter_id, last_event_ms, last_event_seq, db_bytes,
        case when emitter_id = any(${emitting}::text[]) then dedupe end as dedupe from emitter_state
      where emitter_id = any(${sourceIds}::text[]) order by emitter_id for update`,
    // After the locks: no other transaction changes these entries until this commit ends.
    readDbSizes(connection, runs),
    readPublishedIds(connection, runs),
    readListeners(connection, accountIds, sourceIds, channelsOf(runs)),
  ]);
  return {
    ours: oursOf(runs, ourRows),
    changes: new Set(changeRows.map((row) => row.change_id)),
    states: statesOf(stateRows, sizeRows, publishedRows),
    listeners: listenerRows.map(listenerOf),
  };
}

/** Channels of the runs' events, including events about their records. */
function channelsOf(runs: readonly RunCommit[]): string[] {
  return [...new Set([ERRORS_CHANNEL, LOGS_CHANNEL, ...runs.flatMap(({ emits }) => emits.map(channelOf))])];
}

interface StateColumns {
  emitter_id: string;
  last_event_ms: number;
  last_event_seq: number;
  dedupe: DedupeState | null;
  db_bytes: number;
}

function statesOf(
  rows: readonly StateColumns[],
  sizes: readonly DbSizeRow[],
  publishedRows: readonly PublishedIdRow[],
): Map<string, EmitterState> {
  const published = knownIds(publishedRows);
  const bySource = Map.groupBy(sizes, (size) => size.source_id);
  const byKeyOf = (id: string) => new Map(bySource.get(id)?.map(({ key, bytes }) => [key, bytes]));
  return new Map(
    rows.map(({ emitter_id: id, last_event_ms: ms, last_event_seq: seq, dedupe, db_bytes: bytes }) => [
      id,
      {
        last: { ms, seq },
        dedupe: dedupe ?? undefined,
        db: { bytes, byKey: byKeyOf(id) },
        published: published.get(id) ?? NONE_KNOWN,
      },
    ]),
  );
}

const NONE_KNOWN: ReadonlyMap<string, EventPosition> = new Map();

function leases(runs: readonly RunCommit[], isEnded: (run: RunCommit) => boolean) {
  const held = runs.flatMap((run) => (isStored(run) ? [{ run, ...run.invocation }] : []));
  return {
    ids: held.map(({ id }) => id),
    nodes: held.map(({ leasedBy }) => leasedBy),
    claims: held.map(({ claim }) => claim),
    // The client takes a list of booleans for one.
    ends: held.map(({ run }) => (isEnded(run) ? 1 : 0)),
  };
}

interface LeaseRow {
  id: string;
  leased_by: string;
  claim: number;
}

/**
 * By the whole lease: two holders of one invocation may meet in a batch. Each invocation ends once.
 */
function oursOf(runs: readonly RunCommit[], rows: readonly LeaseRow[]): Set<RunCommit> {
  const leased = new Map(rows.map((row) => [row.id, row]));
  const ended = new Set<string>();
  return new Set(
    runs.filter(({ invocation, final }) => {
      if (invocation === undefined || ended.has(invocation.id)) return false;
      const row = leased.get(invocation.id);
      const isOurs = row?.leased_by === invocation.leasedBy && row.claim === invocation.claim;
      if (isOurs && final) ended.add(invocation.id);
      return isOurs;
    }),
  );
}

function isStillOurs(run: RunCommit, { ours, changes }: Read): boolean {
  if (run.change !== undefined && !changes.has(run.change.changeId)) return false;
  return !isStored(run) || ours.has(run);
}

/** Whether a row of `invocations` says who may commit it. */
function isStored(run: RunCommit): run is RunCommit & { invocation: NonNullable<RunCommit['invocation']> } {
  return run.invocation !== undefined && run.invocation.isUnstored !== true;
}

function summarize(runs: readonly RunCommit[], plan: CommitPlan, held: HeldRows): CommittedRun[] {
  const runOf = (event: CommitPlan['events'][number]) => event.invocationId ?? event.emitterId;
  const eventsByRun = Map.groupBy(plan.events, runOf);
  const deliveriesByRun = Map.groupBy([...held.deliveries], ({ event }) => runOf(event));
  const invocationsByRun = Map.groupBy([...held.invocations], ({ event }) => runOf(event));
  const heldInvocation = (row: InvocationRow) => ({
    ...listenerRun(row),
    crashes: 0,
    attempts: 1,
    leasedBy: held.nodeId,
    claim: 1,
  });
  return runs.map((run) => {
    const planned = plan.runs.get(run);
    if (planned === undefined) return { committed: false, events: 0, deliveries: [], invocations: [] };
    const key = beganWith(run) ?? run.sourceId;
    const last = plan.states.get(run.sourceId)?.last;
    return {
      committed: true,
      events: eventsByRun.get(key)?.length ?? 0,
      rows: planned.rows,
      counts: planned.counts,
      deliveries: deliveriesByRun.get(key) ?? [],
      invocations: (invocationsByRun.get(key) ?? []).map(heldInvocation),
      ...(planned.exceeded === undefined ? {} : { exceeded: planned.exceeded }),
      ...(last === undefined ? {} : { last }),
      ...(planned.record === undefined ? {} : { record: planned.record }),
      ...(planned.published === undefined ? {} : { published: planned.published }),
      ...(planned.refused === undefined ? {} : { refused: planned.refused }),
    };
  });
}
