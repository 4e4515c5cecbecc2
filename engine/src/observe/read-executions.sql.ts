import { ID_PREFIXES } from '@headwater/shared';
import type postgres from 'postgres';
import type {
  ExecutionError,
  ExecutionRecord,
  ExecutionStatus,
  ExecutionStepRecord,
  PageRequest,
} from '../contract/index.ts';
import { readStoredLines } from '../events/index.ts';
import { cutJson, isCut, shown, type Sql, type Transaction } from '../db/index.ts';
import { PARKED } from '../workflows/index.ts';

type Fragment = postgres.PendingQuery<postgres.Row[]>;

/** Ids of executions grow with time: they are the cursors of a list. */
interface Slice extends PageRequest, Choice {}

/** Bounds of ids stand for those of times. */
interface Choice {
  statuses?: readonly ExecutionStatus[];
  fromId?: string;
  belowId?: string;
}

const ofTime = (sql: Sql, { fromId, belowId }: Choice) => sql`
  ${fromId === undefined ? sql`` : sql`and id >= ${fromId}`} ${belowId === undefined ? sql`` : sql`and id < ${belowId}`}`;

/**
 * Ids of a workflow's executions, newest first: those that have ended or waited, and those that are
 * queued or run.
 */
export async function listExecutionIds(
  sql: Sql,
  accountId: string,
  workflowId: string,
  choice: Slice,
): Promise<string[]> {
  const { limit, after, before, statuses } = choice;
  const isUpward = before !== undefined && after === undefined;
  const direction = isUpward ? sql`asc` : sql`desc`;
  const ordered = (columns: readonly string[]) =>
    sql`order by ${columns.map((name, i) => sql`${i === 0 ? sql`` : sql`, `}${sql(name)} ${direction}`)} limit ${limit}`;
  const slice: Slicer = (...columns) => sql`
    ${after === undefined ? sql`` : sql`and id < ${after}`} ${before === undefined ? sql`` : sql`and id > ${before}`}
    ${ofTime(sql, choice)} ${ordered([...columns, 'id'])}`;
  const rows = await sql<{ id: string }[]>`
    ${executionsOf(sql, accountId, workflowId, statuses, slice)} ${ordered(['id'])}`;
  const ids = rows.map((row) => row.id);
  return isUpward ? ids.toReversed() : ids;
}

/** Counts all accounts. */
export async function countWaitingExecutions(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int4 as count from execution_waits where kind <> 'early'`;
  return row?.count ?? 0;
}

/** Stops counting at `max`. */
export async function countExecutions(
  sql: Sql,
  accountId: string,
  workflowId: string,
  choice: Choice,
  max: number,
): Promise<number> {
  // In the order of the index: without one Postgres reads the table from its beginning, where a
  // workflow that is newer than most has nothing.
  const slice: Slicer = (...columns) => sql`
    ${ofTime(sql, choice)} order by ${columns.map((name) => sql`${sql(name)}, `)} id limit ${max}`;
  const [row] = await sql<{ count: number }[]>`
    select least(count(*), ${max})::int4 as count from (${executionsOf(sql, accountId, workflowId, choice.statuses, slice)}) as ids`;
  return row?.count ?? 0;
}

/**
 * Limits a part to one page. Its order begins with columns that are constant in the part, like the
 * order of an index.
 */
type Slicer = (...columns: string[]) => Fragment;

/**
 * Each part takes its slice for itself, through an index that is in its order: a workflow may have
 * millions of either, and its neighbours too. What waits has a row of both kinds.
 */
function executionsOf(
  sql: Sql,
  accountId: string,
  workflowId: string,
  statuses: readonly ExecutionStatus[] | undefined,
  slice: Slicer,
): Fragment {
  const own = sql`account_id = ${accountId}`;
  // As a range where only the workflow leads the index: after `=` the primary key is in order as
  // well, and of a workflow that is older than most all newer rows would be read.
  const isOf = (columns: readonly string[]) =>
    columns.length === 0 ? sql`workflow_id between ${workflowId} and ${workflowId}` : sql`workflow_id = ${workflowId}`;
  const ended = (where: Fragment, ...columns: string[]) => sql`
    (select id from executions where ${isOf(columns)} and ${own} ${where} ${slice('workflow_id', ...columns)})`;
  const queued = sql`
    (select id from invocations where leased_by is null and source_id = ${workflowId} and ${own}
      ${slice('leased_by', 'source_id')})`;
  const running = sql`
    (select held.id from nodes n cross join lateral (
      select id from invocations where leased_by = n.id and source_id = ${workflowId} and ${own} ${slice('leased_by', 'source_id')}
    ) as held)`;
  // A subquery for each row: a join may read all newer invocations.
  const isParked = sql`(select i.leased_by from invocations i where i.id = executions.id) = ${PARKED}`;
  const ofStatus = (status: ExecutionStatus): Fragment => {
    switch (status) {
      case 'queued':
        return queued;
      case 'running':
        return running;
      case 'waiting':
        return ended(sql`and status = 'waiting' and ${isParked}`, 'status');
      case 'succeeded':
        // Written out, here and below, as the indexes have it: of a value that is sent apart nobody
        // knows which of them it fits.
        return ended(sql`and status = 'succeeded'`);
      default:
        return ended(sql`and status = ${status} and status <> 'succeeded'`, 'status');
    }
  };
  const parts = statuses?.map(ofStatus) ?? [ended(sql``), queued, running];
  return sql`select id from (${parts.map((part, i) => sql`${i === 0 ? sql`` : sql`union`} ${part}`)}) as u`;
}

interface Row {
  id: string;
  workflow_id: string;
  deployment_id: string | null;
  stored_status: ExecutionStatus | null;
  /** Null: it is no invocation any more. */
  held: 'nobody' | 'parked' | 'node' | null;
  kind: string;
  event: string;
  event_is_cut: boolean;
  context: string | null;
  error: string | null;
  reason: string | null;
  caused_by: string | null;
  trace_id: string | null;
  replay_of: string | null;
  started_ms: number | null;
  ended_ms: number | null;
  wait_kind: 'delay' | 'suspend' | 'rerun' | 'retry' | null;
  wake_ms: number | null;
}

/**
 * Those of `ids` that are the account's, without their steps, in no order. Events are cut beyond so
 * many bytes.
 */
export async function readExecutions(
  sql: Sql | Transaction,
  accountId: string,
  ids: readonly string[],
  { maxEventBytes }: { maxEventBytes: number | null },
): Promise<ExecutionRecord[]> {
  const rows = await sql<Row[]>`
    with found as (
      select k.id, coalesce(e.workflow_id, i.source_id) as workflow_id, e.deployment_id, e.status as stored_status,
        case when i.id is null then null when i.leased_by is null then 'nobody' when i.leased_by = ${PARKED} then 'parked'
          else 'node' end as held,
        coalesce(i.kind, e.kind) as kind, coalesce(e.event, i.event) as event, e.context, e.error, e.reason,
        coalesce(e.caused_by, i.caused_by) as caused_by, coalesce(e.trace_id, i.trace_id) as trace_id, e.replay_of,
        ${millis(sql, sql`e.started_at`)} as started_ms, ${millis(sql, sql`e.ended_at`)} as ended_ms,
        case when i.leased_by = ${PARKED} then w.kind end as wait_kind, ${millis(sql, sql`w.wake_at`)} as wake_ms
      from unnest(${[...ids]}::text[]) as k(id)
      left join executions e on e.id = k.id and e.account_id = ${accountId}
      left join invocations i on i.id = k.id and i.account_id = ${accountId}
      left join execution_waits w on w.execution_id = k.id and w.account_id = ${accountId}
      where e.id is not null or starts_with(i.source_id, ${ID_PREFIXES.workflow})
    )
    select *, ${cutJson(sql, sql`event`, maxEventBytes)} as event,
      ${isCut(sql, sql`event`, maxEventBytes)} as event_is_cut
    from found`;
  return rows.map(recordOf);
}

function recordOf(row: Row): ExecutionRecord {
  const { wait_kind: waitKind, wake_ms: wakeMs, started_ms: startedMs, ended_ms: endedMs } = row;
  return {
    id: row.id,
    workflowId: row.workflow_id,
    status: statusOf(row),
    kind: row.kind,
    traceId: row.trace_id ?? row.id,
    event: shown(row.event, row.event_is_cut),
    steps: [],
    ...(row.deployment_id === null ? {} : { deploymentId: row.deployment_id }),
    ...(row.caused_by === null ? {} : { causedBy: row.caused_by }),
    ...(row.replay_of === null ? {} : { replayOf: row.replay_of }),
    ...(row.context === null ? {} : { context: row.context }),
    ...(row.error === null ? {} : { error: JSON.parse(row.error) as ExecutionError }),
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(waitKind === null || wakeMs === null ? {} : { wait: { kind: waitKind, until: new Date(wakeMs) } }),
    ...(startedMs === null ? {} : { startedAt: new Date(startedMs) }),
    ...(endedMs === null ? {} : { endedAt: new Date(endedMs) }),
  };
}

/** While there is an invocation, that is what counts: the other row is from when it waited. */
function statusOf({ held, stored_status: stored }: Row): ExecutionStatus {
  switch (held) {
    case 'nobody':
      return 'queued';
    case 'node':
      return 'running';
    case 'parked':
      return 'waiting';
    case null:
      return stored ?? 'cancelled';
  }
}

interface StepRow {
  execution_id: string;
  deployment_id: string;
  namespace: string;
  status: ExecutionStepRecord['status'];
  runs: number;
  value: string | null;
  value_is_cut: boolean;
  exports: string;
  exports_are_cut: boolean;
  logs: string;
  logs_are_cut: boolean;
  props: string | null;
  props_cut: string | null;
  error: string | null;
  started_ms: number;
  ended_ms: number;
}

export interface StepsOfExecution {
  /** Version of the last step. */
  deploymentId: string;
  steps: ExecutionStepRecord[];
}

interface StepBounds {
  maxBytes: number | null;
  maxLogBytes?: number | null;
  withProps?: boolean;
}

/**
 * The steps that executions have come to, in order; `maxBytes` of each value, null: values are
 * whole. Lines whose JSON has more than `maxLogBytes` are left out, of each step all or none.
 * `withProps`: what the steps got as well.
 */
export async function readExecutionSteps(
  sql: Sql,
  accountId: string,
  ids: readonly string[],
  { maxBytes, maxLogBytes = null, withProps = false }: StepBounds,
): Promise<Map<string, StepsOfExecution>> {
  const rows = await sql<StepRow[]>`
    select execution_id, deployment_id, namespace, status, runs, error,
      ${withProps ? sql`props, props_cut` : sql`null as props, null as props_cut`},
      case when ${isCut(sql, sql`logs`, maxLogBytes)} then '[]' else logs end as logs,
      ${isCut(sql, sql`logs`, maxLogBytes)} as logs_are_cut,
      ${cutJson(sql, sql`value`, maxBytes)} as value, ${isCut(sql, sql`value`, maxBytes)} as value_is_cut,
      ${cutJson(sql, sql`exports`, maxBytes)} as exports, ${isCut(sql, sql`exports`, maxBytes)} as exports_are_cut,
      ${millis(sql, sql`started_at`)} as started_ms, ${millis(sql, sql`ended_at`)} as ended_ms
    from execution_steps where execution_id = any(${[...ids]}::text[]) and account_id = ${accountId}
    order by execution_id, position`;
  const byExecution = Map.groupBy(rows, (row) => row.execution_id);
  return new Map(
    [...byExecution].map(([id, ofOne]) => [
      id,
      { deploymentId: ofOne.at(-1)?.deployment_id ?? '', steps: ofOne.map(stepOf) },
    ]),
  );
}

function stepOf(row: StepRow): ExecutionStepRecord {
  return {
    namespace: row.namespace,
    status: row.status,
    runs: row.runs,
    ...(row.value === null ? {} : { value: shown(row.value, row.value_is_cut) }),
    exports: shown(row.exports, row.exports_are_cut),
    ...(row.props === null ? {} : { props: row.props }),
    ...(row.props_cut === null ? {} : { propsCut: JSON.parse(row.props_cut) as string[] }),
    logs: readStoredLines(row.logs),
    ...(row.logs_are_cut ? { logsAreCut: true as const } : {}),
    ...(row.error === null ? {} : { error: JSON.parse(row.error) as ExecutionError }),
    startedAt: new Date(row.started_ms),
    endedAt: new Date(row.ended_ms),
  };
}

const millis = (sql: Sql | Transaction, column: Fragment): Fragment =>
  sql`(extract(epoch from ${column}) * 1000)::float8`;
