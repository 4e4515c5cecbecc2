import { createActiveTenants, LIMITS, newId } from '@headwater/shared';
import type { RunCommit } from '../../engine/src/runs/commit/commit-plan.ts';
import { abandonRun } from '../../engine/src/runs/abandon-run.ts';
import type { Dispatcher } from '../../engine/src/runs/dispatcher.ts';
import type { HeldInvocation } from '../../engine/src/events/invocation.ts';
import type { SourceRuntime } from '../../engine/src/runs/source-runtime.ts';
import { endSourceChange, stopSource } from '../../engine/src/sources/change-source.sql.ts';
import { countCrash, insertInvocations, releaseInvocations } from '../../engine/src/runs/invocations.sql.ts';
import { deleteSourceRows, deleteWaitingInvocations } from '../../engine/src/sources/delete-source.sql.ts';
import { retryRuns } from '../../engine/src/runs/abandoned-runs.sql.ts';
import { createAccountLanes } from '../../engine/src/outbox/deliveries/account-lanes.ts';
import { createLaneTurns } from '../../engine/src/db/jobs/lane-turns.ts';
import { createPostponedLanes } from '../../engine/src/db/jobs/postponed-lanes.ts';
import { runSourceLane } from '../../engine/src/cluster/jobs/run-source.ts';
import { createUnheldLeases } from '../../engine/src/cluster/unheld-leases.ts';
import { claimDeliveries } from '../../engine/src/outbox/deliveries/claim-deliveries.sql.ts';
import { claimGoverned } from '../../engine/src/outbox/deliveries/claim-governed.sql.ts';
import { commitRuns } from '../../engine/src/runs/commit/commit-runs.sql.ts';
import type { Sql } from '../../engine/src/db/database.ts';
import {
  type DeliveryResult,
  recordAttempts,
  type Successors,
} from '../../engine/src/outbox/deliveries/record-attempts.sql.ts';
import { redeliverFailed } from '../../engine/src/outbox/deliveries/redeliver.sql.ts';
import { releaseUnbegun } from '../../engine/src/outbox/deliveries/release-deliveries.sql.ts';
import { releaseNode } from '../../engine/src/cluster/nodes.sql.ts';
import { limitsOf } from './delivery-world.ts';
import { LEASE_SOURCES } from './lease-moves.ts';
import { type LeaseRows, readLeaseRows } from './lease-states.ts';
import { testLog } from './logs.ts';
import { createNodeMoves, type JobState, type NodeIdentity, workJob } from './model-nodes.ts';
import { insertSource, leaseSource } from './source-rows.ts';

/*
 * A few nodes work on rows of a few sources and their webhooks. They use the product's functions; a
 * map plays the memory of each node. A crashed node loses its memory. A living node that is
 * declared dead keeps its memory, and goes on.
 */

interface HeldDelivery {
  id: string;
  webhookId: string;
}

/** A node as its process remembers it. */
export interface LeaseNode extends NodeIdentity {
  runs: Map<string, HeldInvocation>;
  deliveries: Map<string, HeldDelivery>;
  /** Attempts without a confirmed record. */
  unrecorded: DeliveryResult[];
}

export interface LeaseWorld {
  accountId: string;
  sources: string[];
  webhooks: string[];
  /** One of the webhooks, which gets one delivery after the other. */
  ordered: string;
  nodes: LeaseNode[];
  /** All that the nodes have had, the ones of processes that live first. */
  read(): Promise<LeaseRows>;
  moves: LeaseMoves;
  end(): Promise<void>;
}

type LeaseMoves = ReturnType<typeof createMoves>;

export async function createLeaseWorld(sql: Sql, accountId: string, nodeCount: number): Promise<LeaseWorld> {
  const sources: string[] = [];
  for (let i = 0; i < LEASE_SOURCES; i++) sources.push(await insertSource(sql, accountId));
  const webhooks = await Promise.all(
    sources.map((sourceId, at) => insertWebhook(sql, accountId, sourceId, at === ORDERED ? 'fifo' : 'none')),
  );
  const world = { accountId, sources, webhooks, ordered: webhooks[ORDERED] as string, nodes: [] as LeaseNode[] };
  const moves = createMoves(world);
  for (let i = 0; i < nodeCount; i++) await moves.start(sql);
  return {
    ...world,
    read: () => readLeaseRows(sql, world),
    moves,
    async end() {
      for (const { id } of world.nodes) await releaseNode(sql, id);
      await sql`delete from nodes`;
      await sql`delete from graphile_worker._private_jobs`;
      await sql`delete from invocations where source_id = any(${sources}::text[])`;
      await sql`delete from abandoned_runs where source_id = any(${sources}::text[])`;
      await sql`delete from deliveries where webhook_id = any(${webhooks}::text[])`;
    },
  };
}

async function insertWebhook(
  sql: Sql,
  accountId: string,
  sourceId: string,
  ordering: 'none' | 'fifo',
): Promise<string> {
  const id = newId('webhook');
  await sql`
    insert into webhooks (id, account_id, user_id, url, format, secret, ordering)
    values (${id}, ${accountId}, ${accountId}, 'http://127.0.0.1:9/', 'raw', 'sealed', ${ordering})`;
  await sql`
    insert into subscriptions (id, account_id, emitter_id, listener_id, event_name)
    values (${newId('subscription')}, ${accountId}, ${sourceId}, ${id}, '')`;
  return id;
}

/** Which webhook is ordered. Its source is not the one that may be deleted. */
const ORDERED = 1;

const drainWithRoom = (limit: number) => ({
  room: () => limit,
  sharedRoom: () => limit,
  roomOfFailing: () => limit,
});

const accountLanes = (sql: Sql, nodeId: string, limit: number) =>
  createAccountLanes({ sql, nodeId: () => nodeId, drain: drainWithRoom(limit) });

const withMemory = (node: NodeIdentity): LeaseNode => ({
  ...node,
  runs: new Map(),
  deliveries: new Map(),
  unrecorded: [],
});

interface Place {
  accountId: string;
  sources: string[];
  ordered: string;
  nodes: LeaseNode[];
}

/**
 * Each as a process does it, on the client that is given: the memory changes once the database has
 * answered.
 */
function createMoves(world: Place) {
  const laneTurns = createLaneTurns({ activeTenants: createActiveTenants(), log: testLog });

  function take(node: LeaseNode, held: readonly HeldInvocation[]): void {
    for (const invocation of held) node.runs.set(invocation.id, invocation);
  }

  return {
    ...createNodeMoves(world.nodes, withMemory),

    async accept(sql: Sql, node: LeaseNode, rows: readonly { source: number; isHeld: boolean }[]): Promise<string[]> {
      const added = rows.map(({ source, isHeld }) => ({
        id: newId('invocation'),
        accountId: world.accountId,
        sourceId: world.sources[source] as string,
        kind: 'http' as const,
        event: '{}',
        ...(isHeld ? { leasedBy: node.id } : {}),
      }));
      await insertInvocations(sql, added);
      take(
        node,
        added.flatMap(({ leasedBy, ...rest }) =>
          leasedBy === undefined ? [] : [{ ...rest, leasedBy, claim: 1, attempts: 1, crashes: 0 }],
        ),
      );
      return added.map(({ id }) => id);
    },

    work: (sql: Sql, node: LeaseNode, job: JobState, limit: number) =>
      workJob(sql, node, job, async () => {
        const [, laneId = ''] = job.key.split(':');
        if (job.key.startsWith('run:')) {
          const dispatcher = { capacity: () => limit, take: (held: HeldInvocation[]) => take(node, held) };
          await runSourceLane(
            {
              sql,
              laneTurns,
              dispatcher: dispatcher as unknown as Dispatcher,
              postponed: createPostponedLanes(0),
              turns: { runLane: () => Promise.reject(new Error('It takes no turns')) },
              limits: limitsOf({}),
            },
            () => node.id,
            { sourceId: laneId },
          );
        } else {
          const claim = laneId === world.ordered ? claimGoverned : claimDeliveries;
          const claimed =
            laneId === world.accountId
              ? await accountLanes(sql, node.id, limit).claim(laneId, limit)
              : await claim(sql, node.id, laneId, limit);
          for (const { id, webhookId } of claimed) node.deliveries.set(id, { id, webhookId });
        }
      }),

    /** Runs that have come to their end, each with an event. */
    async commit(sql: Sql, node: LeaseNode, held: readonly HeldInvocation[], capacity: number): Promise<string[]> {
      const runs = held.map(({ id, sourceId, leasedBy, claim }) => ({
        accountId: world.accountId,
        sourceId,
        invocation: { id, leasedBy, claim },
        final: true,
        dedupe: undefined,
        emits: [{ data: '{}', id, emittedAtMs: 1 }],
        dbWrites: new Map<string, string>(),
      }));
      const outcomes = await commitRuns(sql, runs, {
        nodeId: node.id,
        deliveryCapacity: () => capacity,
        runCapacity: () => capacity,
        nowMs: Date.now,
      });
      for (const { deliveries } of outcomes)
        for (const { id, listener } of deliveries) node.deliveries.set(id, { id, webhookId: listener.webhookId });
      for (const { id, claim } of held) if (node.runs.get(id)?.claim === claim) node.runs.delete(id);
      return held.filter((_, at) => outcomes[at]?.committed).map(({ id }) => id);
    },

    /** Its sandbox process ends so often while it is alone in it. */
    async crashAlone(sql: Sql, node: LeaseNode, run: HeldInvocation, times: number): Promise<void> {
      for (let i = 0; i < times; i++) {
        const crashes = await countCrash(sql, run);
        if (crashes === undefined) {
          node.runs.delete(run.id);
          return;
        }
        if (crashes < LIMITS.maxInvocationAttempts) continue;
        const options = { nodeId: node.id, deliveryCapacity: () => 0, runCapacity: () => 0, nowMs: Date.now };
        const commit = (abandoned: RunCommit) => commitRuns(sql, [abandoned], options);
        const runtime = { dedupe: undefined, redactor: undefined } as unknown as SourceRuntime;
        await abandonRun({ commit, nowMs: Date.now }, { runtime, invocation: run, maxEventHops: 1 });
        node.runs.delete(run.id);
        return;
      }
    },

    /**
     * As its user does it, with hooks that do nothing. A change that was cut off has been recovered
     * by then.
     */
    async change(sql: Sql, sourceId: string, kind: 'activate' | 'deactivate' | 'delete'): Promise<void> {
      const found = await sql`
        update sources set busy_until = null, busy_by = null, change_id = null
        where id = ${sourceId} and deleted_at is null returning id`;
      if (found.length === 0) return;
      const lease = await leaseSource(sql, world.accountId, sourceId);
      if (kind === 'delete') {
        await deleteWaitingInvocations(sql, lease);
        await deleteSourceRows(sql, lease);
        return;
      }
      if (kind === 'deactivate') await stopSource(sql, lease);
      else await sql`update sources set active = true where id = ${sourceId} and change_id = ${lease.changeId}`;
      await endSourceChange(sql, lease, { httpProps: [], timers: [] });
    },

    retryAbandoned: (sql: Sql, ids: readonly string[]) => retryRuns(sql, world.accountId, ids),

    async giveBackRuns(sql: Sql, node: LeaseNode, held: readonly HeldInvocation[]): Promise<void> {
      const byHolder = Map.groupBy(held, ({ leasedBy }) => leasedBy);
      for (const [leasedBy, some] of byHolder) await releaseInvocations(sql, leasedBy, some);
      for (const { id } of held) node.runs.delete(id);
    },

    /**
     * Records attempts; unconfirmed ones are recorded again with the next ones. The next delivery
     * of the ordered webhook is this node's at once.
     */
    async record(sql: Sql, node: LeaseNode, results: readonly DeliveryResult[]): Promise<void> {
      node.unrecorded.push(...results);
      const all = [...node.unrecorded];
      const successors: Successors = { mayTake: () => true, taken: [] };
      await recordAttempts(sql, node.id, all, successors);
      node.unrecorded = [];
      for (const { item } of all) node.deliveries.delete(item.id);
      for (const { id, webhookId } of successors.taken) node.deliveries.set(id, { id, webhookId });
    },

    async giveBackDeliveries(sql: Sql, node: LeaseNode, held: readonly HeldDelivery[]): Promise<void> {
      if (held.length === 0) return;
      await releaseUnbegun(sql, node.id, held);
      for (const { id } of held) node.deliveries.delete(id);
    },

    redeliver: (sql: Sql, webhookId: string) => redeliverFailed(sql, world.accountId, webhookId, {}),

    /** Two checks: a row in transit at the first check is held at the second. */
    async giveBackUnheld(sql: Sql, node: LeaseNode): Promise<void> {
      const look = createUnheldLeases({
        sql,
        nodeId: () => node.id,
        dispatcher: { holds: (id) => node.runs.get(id)?.leasedBy === node.id, refuse: () => undefined },
        deliverer: { holds: (id) => node.deliveries.has(id) },
        sends: { holds: () => true },
        log: testLog,
      });
      await look();
      await look();
    },
  };
}
