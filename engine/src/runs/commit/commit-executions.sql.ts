import { LIMITS } from '@headwater/shared';
import type { ExecutionCommit, StepRow } from './execution-rows.ts';
import { rowsOf, setLockTimeout, type Sql, type Transaction } from '../../db/index.ts';

/**
 * Steps and ends of many executions in one statement, which a transaction of its own makes durable.
 * Answers those that were written; the others have lost their lease, and another holder goes on
 * with them.
 *
 * Exactness: the invocation's row is locked by the commit that writes for it, and the commit names
 * the lease and the claim. So a later holder sees every step that was written before, and an
 * earlier one, of the same node or not, writes none afterwards.
 */
export async function commitExecutions(
  sql: Sql | Transaction,
  all: readonly ExecutionCommit[],
): Promise<Set<ExecutionCommit>> {
  const commits = newestOfEach(all);
  const going = leasesOf(commits.filter(({ end }) => end === undefined));
  const ended = commits.filter(({ end }) => end !== undefined);
  const rows =
    ended.length === 0 ? await storeSteps(sql, commits, going) : await storeAndEnd(sql, commits, going, ended);
  const ids = new Set(rows.map(({ id }) => id));
  return new Set(commits.filter(({ key }) => ids.has(key.id)));
}

/**
 * A holder has one commit under way at a time. So two commits of one execution have two holders,
 * and all but the newest have lost the lease. In one statement each would write under the lease of
 * the other.
 */
function newestOfEach(commits: readonly ExecutionCommit[]): ExecutionCommit[] {
  const newest = new Map<string, ExecutionCommit>();
  for (const commit of commits) {
    const other = newest.get(commit.key.id);
    if (other === undefined || other.lease.claim < commit.lease.claim) newest.set(commit.key.id, commit);
  }
  return [...newest.values()];
}

/**
 * As commitExecutions, in a transaction that waits at most `maxLockMs` for locks of others: see
 * wasHeldUp.
 */
export async function commitExecutionsWithin(
  sql: Sql,
  commits: readonly ExecutionCommit[],
  maxLockMs: number | undefined,
): Promise<Set<ExecutionCommit>> {
  if (maxLockMs === undefined) return commitExecutions(sql, commits);
  return sql.begin(async (tx) => {
    // Sent together.
    const [, ours] = await Promise.all([setLockTimeout(tx, maxLockMs), commitExecutions(tx, commits)]);
    return ours;
  });
}

interface Leases {
  ids: string[];
  nodes: string[];
  claims: number[];
}

function storeSteps(sql: Sql | Transaction, commits: readonly ExecutionCommit[], going: Leases) {
  return sql<{ id: string }[]>`
    with ours as (
      ${leased(sql, going)}
    ), ${stepRows(sql, commits)}
    select id from ours`;
}

/** The invocations that are still held as it says. */
function leased(sql: Sql | Transaction, { ids, nodes, claims }: Leases) {
  return sql`select i.id from invocations i
        join unnest(${ids}::text[], ${nodes}::text[], ${claims}::int4[]) as g(id, node, claim)
        on i.id = g.id and i.leased_by = g.node and i.claim = g.claim
      for share of i`;
}

function storeAndEnd(
  sql: Sql | Transaction,
  commits: readonly ExecutionCommit[],
  going: Leases,
  ending: readonly ExecutionCommit[],
) {
  const { ids, nodes, claims } = leasesOf(ending);
  return sql<{ id: string }[]>`
    with mine as (
      ${leased(sql, going)}
    ), ended as (
      delete from invocations i using unnest(${ids}::text[], ${nodes}::text[], ${claims}::int4[]) as e(id, node, claim)
      where i.id = e.id and i.leased_by = e.node and i.claim = e.claim returning i.id, i.event
    ), ours as (
      select id from mine union all select id from ended
    ), ${endRows(sql, ending)}, ${stepRows(sql, commits)}
    select id from ours`;
}

/** Rows of steps that were run before, and waits that are over, are replaced. */
function stepRows(sql: Sql | Transaction, commits: readonly ExecutionCommit[]) {
  const rows = commits.flatMap(({ key, steps }) => steps.map((step) => ({ key, step })));
  const of = <T>(read: (step: StepRow) => T) => rows.map(({ step }) => read(step));
  return sql`${overWaits(sql, commits)}stored as (
      insert into execution_steps (execution_id, position, account_id, deployment_id, namespace, status, runs, value,
        exports, logs, live_lines, sends, props, props_cut, error, started_at, ended_at)
      select execution_id, position, account_id, deployment_id, namespace, status, runs, value, exports, logs,
        live_lines, sends, props, props_cut, error, to_timestamp(started / 1000.0), to_timestamp(ended / 1000.0)
      from ${rowsOf(sql, [
        ['text', rows.map(({ key }) => key.id)],
        ['int4', of((step) => step.position)],
        ['text', rows.map(({ key }) => key.accountId)],
        ['text', rows.map(({ key }) => key.deploymentId)],
        ['text', of((step) => step.namespace)],
        ['text', of((step) => step.status)],
        ['int4', of((step) => step.runs)],
        ['int4', of((step) => step.liveLines)],
        ['text', of((step) => step.error ?? null)],
        ['text', of(({ props }) => (props === undefined || props.cut === '[]' ? null : props.cut))],
        ['float8', of((step) => step.startedAtMs)],
        ['float8', of((step) => step.endedAtMs)],
        ['long', of(({ sends }) => (sends.length === 0 ? null : JSON.stringify(sends)))],
        ['long', of((step) => step.props?.json ?? null)],
        ['long', of((step) => step.logs)],
        ['long', of((step) => step.exports)],
        ['long', of((step) => step.value ?? null)],
      ])} as s(execution_id, position, account_id, deployment_id, namespace, status, runs, live_lines, error, props_cut, started, ended, sends, props,
        logs, exports, value)
      where execution_id in (select id from ours)
      on conflict (execution_id, position) do update set deployment_id = excluded.deployment_id,
        namespace = excluded.namespace, status = excluded.status, runs = excluded.runs, value = excluded.value,
        exports = excluded.exports, logs = excluded.logs, live_lines = excluded.live_lines, sends = excluded.sends,
        props = excluded.props, props_cut = excluded.props_cut, error = excluded.error,
        started_at = excluded.started_at, ended_at = excluded.ended_at
    )`;
}

/**
 * Keeps an early resume of a wait that is over: it may be for a later step, so it becomes its own
 * row.
 */
function overWaits(sql: Sql | Transaction, commits: readonly ExecutionCommit[]) {
  const waited = commits.filter(({ endsWait }) => endsWait);
  if (waited.length === 0) return sql``;
  const going = waited.filter(({ end }) => end === undefined);
  return sql`over as (
      delete from execution_waits
      where execution_id in (select id from ours) and execution_id = any(${waited.map(({ key }) => key.id)}::text[])
        and kind in ('retry', 'rerun')
      returning *
    ), early as (
      insert into execution_waits (execution_id, account_id, workflow_id, kind, position, runs, token, wake_at, resume_data,
        bytes)
      select execution_id, account_id, workflow_id, 'early', early_position, early_runs, early_token, now(), early_data,
        ${LIMITS.waitingOverheadBytes}::int8 + octet_length(early_data)
      from over where early_token is not null and execution_id = any(${going.map(({ key }) => key.id)}::text[])
    ), `;
}

/** An execution that has waited, or replays another, has its row already. */
function endRows(sql: Sql | Transaction, ending: readonly ExecutionCommit[]) {
  return sql`closed as (
      insert into executions (id, account_id, workflow_id, deployment_id, kind, status, event, context, error, reason,
        caused_by, trace_id, started_at, ended_at)
      select r.id, r.account_id, r.workflow_id, r.deployment_id, r.kind, r.status, ended.event, r.context, r.error,
        r.reason, r.caused_by, r.trace_id, to_timestamp(r.started / 1000.0), to_timestamp(r.ended / 1000.0)
      from ${rowsOf(sql, [
        ['text', ending.map(({ key }) => key.id)],
        ['text', ending.map(({ key }) => key.accountId)],
        ['text', ending.map(({ key }) => key.workflowId)],
        ['text', ending.map(({ key }) => key.deploymentId)],
        ['text', ending.map(({ start }) => start.kind)],
        ['text', ending.map(({ end }) => end?.status ?? null)],
        ['text', ending.map(({ end }) => end?.error ?? null)],
        ['text', ending.map(({ end }) => end?.reason ?? null)],
        ['text', ending.map(({ start }) => start.causedBy ?? null)],
        ['text', ending.map(({ start }) => start.traceId)],
        ['float8', ending.map(({ start }) => start.startedAtMs)],
        ['float8', ending.map(({ end }) => end?.endedAtMs ?? null)],
        ['long', ending.map(({ start }) => start.context)],
      ])} as r(id, account_id, workflow_id, deployment_id, kind, status, error, reason, caused_by, trace_id, started, ended,
        context)
      join ended on ended.id = r.id
      on conflict (id) do update set deployment_id = excluded.deployment_id, status = excluded.status,
        context = excluded.context, error = excluded.error, reason = excluded.reason, started_at = excluded.started_at,
        ended_at = excluded.ended_at, ended_in = pg_current_xact_id()
    )`;
}

function leasesOf(commits: readonly ExecutionCommit[]): Leases {
  return {
    ids: commits.map(({ key }) => key.id),
    nodes: commits.map(({ lease }) => lease.leasedBy),
    claims: commits.map(({ lease }) => lease.claim),
  };
}
