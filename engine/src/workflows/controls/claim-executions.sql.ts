import { causeOf, type HeldInvocation } from '../../events/index.ts';
import { addJobs, fitsClaim, type JobSpec, type Sql, type Transaction } from '../../db/index.ts';
import { propNameOf, runLane } from '../../runs/index.ts';
import { PARKED } from '../run/park-executions.sql.ts';

export interface ExecutionClaim {
  workflowId: string;
  nodeId: string;
  /** How many the node has room for; at least 1. */
  limit: number;
}

export interface ClaimedExecutions {
  /** In the order in which they were accepted. */
  held: HeldInvocation[];
  /** Executions remain that the settings do not let start now. */
  blocked: boolean;
  /** Executions remain that may start, because the claim has enough large events. */
  cut: boolean;
}

/**
 * On which a node is told that the next execution of a workflow is its own to start: `<node>
 * <account> <workflow>`.
 */
export const TURN_CHANNEL = 'headwater_turn';

/**
 * The node that holds the next execution's client may have died, so a claim checks again after this
 * time.
 */
const WANTED_AGAIN_MS = 2_000;

interface TurnRow {
  account_id: string;
  id: string | null;
  kind: HeldInvocation['kind'];
  prop_name: string | null;
  event: string;
  caused_by: string | null;
  trace_id: string | null;
  hops: number;
  attempts: number;
  claim: number;
  blocked: boolean;
  cut: boolean;
  /** When the throttle's window ends; null where no throttle holds anything back. */
  window_ends_ms: number | null;
  wanted_by: string | null;
}

/**
 * Leases to a node as many waiting executions of a workflow as its settings allow now, across all
 * nodes. Executions that have begun before come first; both groups keep the order of acceptance.
 * Claims of one workflow run one at a time, so each sees the leases of the one before.
 *
 * - Concurrency: an execution held by a living node is running; a waiting one (delay, suspend,
 *   rerun) is not. With concurrency 1 an execution that will be retried keeps its slot.
 * - Throttle: counts executions that have not begun before. A job is added for the end of the
 *   window.
 * - If the next one has a client on another node, that node is notified, and no execution overtakes
 *   it while that node lives.
 */
export async function claimExecutions(sql: Sql, claim: ExecutionClaim): Promise<ClaimedExecutions> {
  return sql.begin(async (tx) => {
    // Sent together. A claim that is lost with the database is one that was never made; what
    // follows from it is durable only together with it.
    const [, , , rows] = await Promise.all([
      tx`set local synchronous_commit = off`,
      tx`
        insert into workflow_turns (workflow_id)
        select id from emitters where id = ${claim.workflowId} and in_turn and deleted_at is null
        on conflict do nothing`,
      tx`select from workflow_turns where workflow_id = ${claim.workflowId} for update`,
      leaseNext(tx, claim),
    ]);
    const [first] = rows;
    if (first === undefined) return { held: [], blocked: false, cut: false };
    await addJobs(tx, jobsFor(claim, first));
    if (first.wanted_by !== null)
      await tx`select pg_notify(${TURN_CHANNEL}, ${`${first.wanted_by} ${first.account_id} ${claim.workflowId}`})`;
    return { held: rows.flatMap((row) => heldOf(row, claim)), blocked: first.blocked, cut: first.cut };
  });
}

/**
 * A statement of its own: it sees what the one that held the lock before has written. One row at
 * least where the workflow takes turns.
 */
function leaseNext(tx: Transaction, { workflowId, nodeId, limit }: ExecutionClaim) {
  return tx<TurnRow[]>`
    with rules as (
      select e.account_id, (d.settings ->> 'concurrency')::int8 as concurrency, (d.settings #>> '{throttle,limit}')::int8 as throttle,
        t.started, t.window_started_at + make_interval(secs => (d.settings #>> '{throttle,intervalSeconds}')::float8) as window_ends_at,
        make_interval(secs => (d.settings #>> '{throttle,intervalSeconds}')::float8) as span
      from emitters e join deployments d on d.id = e.deployment_id join workflow_turns t on t.workflow_id = e.id
      where e.id = ${workflowId} and e.active and e.deleted_at is null and e.in_turn
    ), running as (
      select count(*) as count from nodes n join invocations i on i.leased_by = n.id and i.source_id = ${workflowId}
    ), retrying as (
      -- only with concurrency 1 does one of them matter, and then one is enough
      select count(*) as count from (
        select from execution_waits w join invocations i on i.id = w.execution_id and i.leased_by = ${PARKED}
        where (select concurrency from rules) = 1 and w.workflow_id = ${workflowId} and w.kind = 'retry' limit 1
      ) as one
    ), room as (
      select rules.*, throttle is not null and coalesce(window_ends_at <= clock_timestamp(), true) as is_new_window,
        -- none for a node that was declared dead: it is blocked, and the lane comes to another
        case when exists (select from nodes where id = ${nodeId}) then greatest(0, least(${limit}::int8, coalesce(
          concurrency - running.count - retrying.count, ${limit}::int8))) else 0 end as slots,
        case when throttle is null then ${limit}::int8
          when coalesce(window_ends_at <= clock_timestamp(), true) then throttle
          else greatest(0, throttle - started) end as fresh
      from rules, running, retrying
    ), begun as (
      ${waiting(tx, workflowId, 'begun')} limit coalesce((select slots from room), -1) + 1
    ), fresh as (
      ${waiting(tx, workflowId, 'fresh')} limit coalesce((select least(slots, fresh) from room), -1) + 1
    ), queue as (
      select q.*, row_number() over w as position, row_number() over (partition by class order by place) as of_class,
        sum(bytes) over (order by class, place rows between unbounded preceding and 1 preceding) as bytes_before,
        bool_or(wanted_by <> ${nodeId} and exists (select from nodes n where n.id = q.wanted_by)) over w as is_anothers
      from (select * from begun union all select * from fresh) q window w as (order by class, place)
    ), startable as (
      select queue.*, ${fitsClaim(tx)} as is_fitting from queue, room
      where position <= slots and (class = 0 or of_class <= fresh) and is_anothers is not true
    ), due as (
      select * from startable where is_fitting
    ), taken as (
      update invocations i set leased_by = ${nodeId}, attempts = i.attempts + 1, claim = i.claim + 1 from due
      where i.id = due.id and i.leased_by is null
      returning i.id, i.kind, ${propNameOf(tx)} as prop_name, i.event, i.caused_by, i.trace_id, i.hops, i.attempts, i.claim,
        due.class, due.position
    ), counted as (
      update workflow_turns t set
        started = case when is_new_window then 0 else t.started end + (select count(*) from taken where class = 1)::int4,
        window_started_at = case when is_new_window then clock_timestamp() else t.window_started_at end
      from room where t.workflow_id = ${workflowId} and throttle is not null and exists (select from taken where class = 1)
    )
    select room.account_id, taken.id, taken.kind, taken.prop_name, taken.event, taken.caused_by, taken.trace_id, taken.hops,
      taken.attempts, taken.claim, (select count(*) from queue) > (select count(*) from due) as blocked,
      exists (select from startable where not is_fitting) as cut,
      case when throttle > 0 and (select count(*) from queue where class = 1) > fresh
        then extract(epoch from case when is_new_window then clock_timestamp() + span else window_ends_at end)::float8 * 1000
        end as window_ends_ms,
      (select wanted_by from queue, room where is_anothers and position <= slots and (class = 0 or of_class <= fresh)
        order by position limit 1) as wanted_by
    from room left join taken on true order by taken.position`;
}

/** In their order, the part that has begun before or the other. */
function waiting(sql: Transaction, workflowId: string, part: 'begun' | 'fresh') {
  const [place, attempts] = part === 'begun' ? [0, 1] : [1, 0];
  return sql`
    select id, place, wanted_by, ${place}::int4 as class, octet_length(event) as bytes from invocations
    where source_id = ${workflowId} and leased_by is null and place is not null and least(attempts, 1) = ${attempts}
    order by place`;
}

function jobsFor({ workflowId }: ExecutionClaim, { window_ends_ms: endsMs, wanted_by: wantedBy }: TurnRow): JobSpec[] {
  return [
    ...(endsMs === null ? [] : [{ ...runLane(workflowId, Math.ceil(endsMs)), key: `turn:${workflowId}:window` }]),
    ...(wantedBy === null ? [] : [laterTurn(workflowId, WANTED_AGAIN_MS)]),
  ];
}

/** A later job, in case the node that should start the next execution does not. */
export function laterTurn(workflowId: string, afterMs: number): JobSpec {
  return { ...runLane(workflowId, Date.now() + afterMs), key: `turn:${workflowId}:later` };
}

function heldOf(row: TurnRow, { workflowId, nodeId }: ExecutionClaim): HeldInvocation[] {
  if (row.id === null) return [];
  const { id, account_id: accountId, kind, prop_name: propName, event, attempts, claim } = row;
  const cause = causeOf(row);
  const started = { id, accountId, sourceId: workflowId, kind, propName: propName ?? undefined, event, cause };
  return [{ ...started, crashes: 0, attempts, leasedBy: nodeId, claim, inTurn: true }];
}
