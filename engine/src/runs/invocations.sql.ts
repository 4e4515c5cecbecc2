import { ID_PREFIXES } from '@headwater/shared';
import {
  addJobs,
  fitsClaim,
  type JobSpec,
  mayLeaveMore,
  rowsOf,
  type Sql,
  TASKS,
  type Transaction,
} from '../db/index.ts';
import { causeOf, type EventCause, type HeldInvocation, type InvocationKind } from '../events/index.ts';

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

interface ClaimedRow {
  id: string;
  account_id: string;
  kind: HeldInvocation['kind'];
  prop_name: string | null;
  event: string;
  caused_by: string | null;
  trace_id: string | null;
  hops: number;
  crashes: number;
  attempts: number;
  claim: number;
  /** How many were found waiting, all of them in each row. */
  found: number;
}

export interface ClaimedInvocations {
  held: HeldInvocation[];
  /** There may be more. */
  more: boolean;
}

/**
 * Takes up to `limit` waiting invocations of an active source for this node, fewer where their
 * events are large, oldest first. Rows that another node is claiming at this moment are passed
 * over.
 */
export async function claimInvocations(
  sql: Sql,
  sourceId: string,
  nodeId: string,
  limit: number,
): Promise<ClaimedInvocations> {
  const rows = await sql<ClaimedRow[]>`
    update invocations i set leased_by = ${nodeId}, attempts = i.attempts + 1, claim = i.claim + 1
    from (
      select id, count(*) over () as found,
        sum(bytes) over (order by id rows between unbounded preceding and 1 preceding) as bytes_before
      from (
        select w.id, octet_length(w.event) as bytes
        from invocations w join emitters s on s.id = w.source_id and s.active and s.deleted_at is null
        where w.leased_by is null and w.source_id = ${sourceId}
        -- leased_by is null in all of them: named first, the order is the index's, and no backlog is sorted
        order by w.leased_by, w.source_id, w.id limit ${limit} for update of w skip locked
      ) as waiting
    ) as due
    where i.id = due.id and ${fitsClaim(sql)}
    returning i.id, i.account_id, i.kind, ${propNameOf(sql)} as prop_name, i.event, i.caused_by, i.trace_id, i.hops, i.crashes, i.attempts,
      i.claim, due.found::int4 as found`;
  const held = rows
    .map((row) => ({
      id: row.id,
      accountId: row.account_id,
      sourceId,
      kind: row.kind,
      propName: row.prop_name ?? undefined,
      event: row.event,
      cause: causeOf(row),
      crashes: row.crashes,
      attempts: row.attempts,
      leasedBy: nodeId,
      claim: row.claim,
    }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  return { held, more: mayLeaveMore(rows, limit) };
}

/** A claim of an invocation: see HeldInvocation. */
export interface Claim {
  id: string;
  claim: number;
}

/** Gives invocations back: another node, or a later moment, will run them. */
export async function releaseInvocations(sql: Sql, nodeId: string, claims: readonly Claim[]): Promise<void> {
  if (claims.length === 0) return;
  await sql.begin(async (tx) => {
    const rows = await tx<{ source_id: string }[]>`
      update invocations i set leased_by = null,
        -- of a workflow: see HeldInvocation.attempts
        attempts = case when starts_with(source_id, ${ID_PREFIXES.workflow}) then greatest(attempts - 1, 1) else attempts end
      from unnest(${claims.map(({ id }) => id)}::text[], ${claims.map(({ claim }) => claim)}::int4[]) as held(id, claim)
      where i.id = held.id and i.claim = held.claim and i.leased_by = ${nodeId}
      returning source_id`;
    await addRunLanes(
      tx,
      rows.map((row) => row.source_id),
    );
  });
}

/**
 * Counts that the sandbox process of an invocation ended while the invocation was alone in it.
 * Answers how often that has happened, on any node; undefined where the node has lost the lease.
 */
export async function countCrash(
  sql: Sql,
  { id, claim, leasedBy }: Claim & { leasedBy: string },
): Promise<number | undefined> {
  const [row] = await sql<{ crashes: number }[]>`
    update invocations set crashes = crashes + 1
    where id = ${id} and leased_by = ${leasedBy} and claim = ${claim} returning crashes`;
  return row?.crashes;
}

/**
 * Deletes waiting invocations of a deleted source: a run that commits during the deletion may still
 * add some. Returns the number, at most `limit`; 0 if the source is not deleted.
 */
export async function deleteOrphanedInvocations(sql: Sql, sourceId: string, limit: number): Promise<number> {
  const rows = await sql`
    delete from invocations i using (
      select w.id from emitters s join invocations w on w.leased_by is null and w.source_id = s.id
      where s.id = ${sourceId} and s.deleted_at is not null limit ${limit} for update of w skip locked
    ) as orphan
    where i.id = orphan.id`;
  return rows.count;
}
