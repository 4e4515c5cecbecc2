import { ID_PREFIXES } from '@headwater/shared';
import {
  addJobs,
  freeLostJobs,
  type ListeningNode,
  notifyNodeListens,
  type Sql,
  type Transaction,
  unlockJobs,
} from '../db/index.ts';
import { lanesOfWaiting, releaseSends } from '../outbox/index.ts';
import { type Claim, runLane } from '../runs/index.ts';
import { PARKED } from '../workflows/index.ts';

/**
 * Renews the node's row, with its database connection and, if given, the pool name under which it
 * locks jobs. Returns false if the node was declared dead meanwhile. Other nodes then have its
 * leases, and the id must not be used again.
 */
export async function heartbeatNode(sql: Sql, id: string, jobPool?: string): Promise<boolean> {
  const rows = await sql`
    update nodes set seen_at = now(), job_pool = coalesce(${jobPool ?? null}, job_pool), backend_pid = pg_backend_pid(),
      backend_start = (select backend_start from pg_stat_activity where pid = pg_backend_pid())
    where id = ${id} returning id`;
  return rows.length > 0;
}

/**
 * Inserts a node's row before its first lease: a lease whose node has no row counts as a dead
 * node's. `id` is new at every start of a process; `encryptionKeyId` as in LiveNode.
 */
export async function registerNode(
  sql: Sql,
  node: { id: string; role: string; encryptionKeyId?: string } & Partial<ListeningNode>,
): Promise<void> {
  const { id, role, encryptionKeyId = null, addresses = [], ports = [] } = node;
  await sql`
    insert into nodes (id, role, encryption_key_id, addresses, ports)
    values (${id}, ${role}, ${encryptionKeyId}, ${addresses}::text[], ${ports}::int4[])`;
  if (ports.length > 0) await notifyNodeListens(sql);
}

/**
 * Notes which graphile-worker pool is the node's, so that its locked jobs can be unlocked when the
 * node is dead. Left to graphile-worker they would stay locked for four hours. `ended` is the one
 * it had before: what that left locked is free.
 */
export async function recordJobPool(sql: Sql, nodeId: string, poolId: string, ended?: string): Promise<void> {
  await sql`update nodes set job_pool = ${poolId} where id = ${nodeId}`;
  if (ended !== undefined) await unlockJobs(sql, [ended]);
}

export interface Leases {
  invocations: Claim[];
  deliveries: string[];
  sends: { id: string; accountId: string }[];
}

/** As many as it may hold, each found by an index that begins with the node. */
export async function readLeases(sql: Sql, nodeId: string): Promise<Leases> {
  const [invocations, deliveries, sends] = await Promise.all([
    sql<Claim[]>`select id, claim from invocations where leased_by = ${nodeId}`,
    sql<{ id: string }[]>`select id from deliveries where leased_by = ${nodeId} and status = 'pending'`,
    sql<Leases['sends']>`
      select distinct unit_id as id, account_id as "accountId" from sends
      where leased_by = ${nodeId} and status = 'pending' and unit_id is not null`,
  ]);
  return {
    invocations: [...invocations],
    deliveries: deliveries.map(({ id }) => id),
    sends: [...sends],
  };
}

export interface ReleasedNodes {
  nodes: string[];
  invocations: number;
  deliveries: number;
  sends: number;
}

/** One node at a time releases: two would wait for each other's rows. */
const RELEASE_LOCK = 4_815_162_347;

/** How long a node was not seen, by the database's clock, that is taken for dead. */
export interface DeadNodesOptions {
  /** For a node whose connection is still open: it may be slow, or its machine has vanished. */
  deadAfterMs: number;
  /**
   * For a node whose connection has ended, as it does at once with its process. Default:
   * `deadAfterMs`.
   */
  goneAfterMs?: number;
  /** The caller's own. */
  exceptId: string;
}

/**
 * Ends the leases of dead nodes, queues lanes for the rows and unlocks their jobs, in one
 * transaction. A lease whose node has no row counts as a dead node's. Releases nothing while
 * another node does this.
 */
export async function releaseDeadNodes(sql: Sql, options: DeadNodesOptions): Promise<ReleasedNodes> {
  return sql.begin(async (tx) => {
    const [lock] = await tx<{ got: boolean }[]>`select pg_try_advisory_xact_lock(${RELEASE_LOCK}::bigint) as got`;
    if (!lock?.got) return { nodes: [], invocations: 0, deliveries: 0, sends: 0 };
    // A row that is locked is being renewed at this moment.
    const dead = await tx<{ id: string }[]>`
      select id from nodes where ${isDead(tx, options)} for update skip locked`;
    const strayed = await findStrayedLeases(tx, options.exceptId);
    const { jobPools, ...released } = await release(tx, merge(dead, strayed));
    await unlockJobs(tx, jobPools);
    return released;
  });
}

/** Whether there are nodes that releaseDeadNodes takes for dead. Costs next to nothing. */
export async function hasDeadNodes(sql: Sql, options: DeadNodesOptions): Promise<boolean> {
  const rows = await sql`select from nodes where ${isDead(sql, options)} limit 1`;
  return rows.length > 0;
}

/**
 * Postgres hides `backend_start` of other users' connections, so the pid alone must match there.
 */
function isDead(sql: Sql | Transaction, { deadAfterMs, goneAfterMs = deadAfterMs, exceptId }: DeadNodesOptions) {
  return sql`
    id <> ${exceptId} and (
      seen_at < now() - make_interval(secs => ${deadAfterMs / 1000}::float8)
      or (
        seen_at < now() - make_interval(secs => ${goneAfterMs / 1000}::float8) and backend_pid is not null
        and not exists (
          select from pg_stat_activity as activity
          where activity.pid = nodes.backend_pid and coalesce(activity.backend_start = nodes.backend_start, true)
        )
      )
    )`;
}

/**
 * Declares every node but the caller dead. For the start on an embedded database, which one process
 * owns: other registrations are left from processes that have ended.
 */
export async function releaseAllNodes(sql: Sql, options: { exceptId?: string } = {}): Promise<ReleasedNodes> {
  const exceptId = options.exceptId ?? '';
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${RELEASE_LOCK}::bigint)`;
    const others = await tx<{ id: string }[]>`select id from nodes where id <> ${exceptId} for update`;
    const strayed = await findStrayedLeases(tx, exceptId);
    const { jobPools, ...released } = await release(tx, merge(others, strayed));
    await unlockJobs(tx, jobPools);
    await freeLostJobs(tx, { strayAfterMs: 0, lostAfterMs: 0 });
    return released;
  });
}

/** Releases what a node still holds. For a clean shutdown, after it has drained. */
export async function releaseNode(sql: Sql, id: string): Promise<ReleasedNodes> {
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${RELEASE_LOCK}::bigint)`;
    // Keeps `attempts` of executions at 1 or more, so that they still go before executions that
    // have not begun.
    await tx`
      update invocations set attempts = greatest(attempts - 1, 1)
      where leased_by = ${id} and starts_with(source_id, ${ID_PREFIXES.workflow})`;
    const { jobPools, ...released } = await release(tx, [id]);
    await unlockJobs(tx, jobPools);
    return released;
  });
}

/**
 * Ids that hold leases without a row in nodes: a node that was declared dead while it was only slow
 * may take a few more before it notices. Steps from id to id through the index, however many rows
 * each has.
 */
async function findStrayedLeases(tx: Transaction, exceptId: string): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    with recursive
      runs(id) as (
        select min(leased_by) from invocations
        union all
        select (select min(leased_by) from invocations where leased_by > runs.id) from runs where runs.id is not null
      ),
      delivering(id) as (
        select min(leased_by) from deliveries where status = 'pending'
        union all
        select (select min(leased_by) from deliveries where status = 'pending' and leased_by > delivering.id)
        from delivering where delivering.id is not null
      ),
      sending(id) as (
        select min(leased_by) from sends where status = 'pending'
        union all
        select (select min(leased_by) from sends where status = 'pending' and leased_by > sending.id)
        from sending where sending.id is not null
      )
    select id from (select id from runs union select id from delivering union select id from sending) as holder
    where id is not null and id not in (${exceptId}, ${PARKED}) and not exists (select from nodes where nodes.id = holder.id)`;
  return rows.map((row) => row.id);
}

async function release(tx: Transaction, ids: readonly string[]): Promise<ReleasedNodes & { jobPools: string[] }> {
  const dead = [...ids];
  const runs = await tx<{ source_id: string; count: number }[]>`
    with freed as (
      update invocations set leased_by = null where leased_by = any(${dead}::text[]) returning source_id
    )
    select source_id, count(*)::int4 as count from freed group by source_id`;
  const deliveries = await tx<{ accountId: string; webhookId: string; count: number }[]>`
    with freed as (
      update deliveries set leased_by = null
      where leased_by = any(${dead}::text[]) and status = 'pending' returning account_id, webhook_id
    )
    select account_id as "accountId", webhook_id as "webhookId", count(*)::int4 as count from freed
    group by account_id, webhook_id`;
  const sends = await releaseSends(tx, dead);
  await addJobs(tx, [...runs.map((row) => runLane(row.source_id)), ...lanesOfWaiting(deliveries), ...sends.lanes]);
  const gone = await tx<{ job_pool: string | null }[]>`
    delete from nodes where id = any(${dead}::text[]) returning job_pool`;
  const jobPools = gone.flatMap((row) => row.job_pool ?? []);
  return { nodes: dead, invocations: total(runs), deliveries: total(deliveries), sends: sends.count, jobPools };
}

const merge = (rows: readonly { id: string }[], ids: readonly string[]) => [
  ...new Set([...rows.map((row) => row.id), ...ids]),
];

const total = (rows: readonly { count: number }[]) => rows.reduce((sum, row) => sum + row.count, 0);
