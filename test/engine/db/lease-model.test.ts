import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../engine/src/db/database.ts';
import type { DeliveryResult } from '../../../engine/src/outbox/deliveries/record-attempts.sql.ts';
import { LEASE_NODES, LEASE_SOURCES, type LeaseMove, leaseMove } from '../../support/lease-moves.ts';
import {
  brokenOrder,
  brokenRules,
  isLegalDelivery,
  isLegalRun,
  type LeaseMemory,
  remember,
  sameDelivery,
} from '../../support/lease-rules.ts';
import type { LeaseRows } from '../../support/lease-states.ts';
import { createLeaseWorld, type LeaseNode, type LeaseWorld } from '../../support/lease-world.ts';
import {
  isSame,
  modelHistories,
  type ModelDatabase,
  pick,
  startModelDatabase,
  subset,
} from '../../support/model-harness.ts';
import type { JobState } from '../../support/model-nodes.ts';
import { fc } from '../../support/properties.ts';

/*
 * Invocations, leases and deliveries under random moves of three nodes. A node may crash, be
 * declared dead while it lives, or lose its connection at any statement. After each move, every row
 * is in a state that the move allows, and every waiting row has a lease or a job. One webhook is
 * ordered, and has one delivery under way. At the end, the remaining rows finish on their own.
 */

let model: ModelDatabase;

beforeAll(async () => {
  model = await startModelDatabase();
});
afterAll(() => model.stop());

class History {
  readonly faults: string[] = [];
  readonly #world: LeaseWorld;
  readonly #accepted = new Set<string>();
  readonly #silent = new Set<string>();
  /** Invocations of the source whose deletion has begun. */
  readonly #doomed = new Set<string>();
  readonly #abandonedClaims = new Map<string, number>();
  #hasDeleted = false;
  #before: LeaseRows;
  #attempts = 0;

  constructor(world: LeaseWorld, before: LeaseRows) {
    this.#world = world;
    this.#before = before;
  }

  async play(next: LeaseMove): Promise<void> {
    const actor = this.#actorOf(next);
    const memory = remember(actor);
    const sql = next.cut === undefined ? model.test.db.sql : model.cutOff.sql;
    const { done, error, wasCut } = await model.attempt(next.cut, () => this.#do(next, actor, memory, sql));
    if (error !== undefined) this.faults.push(`${next.kind} failed: ${error.message}`);
    const after = await this.#world.read();
    this.#judge(next, memory, after, { done, wasCut });
    this.#before = after;
  }

  /** One that has something for the move, if any has. */
  #actorOf({ kind, node: at }: LeaseMove): LeaseNode {
    const { nodes } = this.#world;
    const isAble = (one: LeaseNode) => {
      if (kind === 'commit' || kind === 'give-back-runs' || kind === 'crash-alone') return one.runs.size > 0;
      if (kind === 'record' || kind === 'give-back-deliveries') return one.deliveries.size > 0;
      if (kind === 'declare-dead') return one.runs.size + one.deliveries.size > 0 && !this.#silent.has(one.id);
      return true;
    };
    return (pick(nodes.filter(isAble), at) ?? nodes[at]) as LeaseNode;
  }

  /** Resolves with the changed ids, if the move reports them. */
  async #do(
    next: LeaseMove,
    actor: LeaseNode,
    memory: LeaseMemory,
    sql: Database['sql'],
  ): Promise<string[] | undefined> {
    const { moves, sources, webhooks } = this.#world;
    switch (next.kind) {
      case 'accept': {
        const rows = next.rows.filter(({ source }) => !this.#hasDeleted || source < sources.length - 1);
        if (rows.length > 0) for (const id of await moves.accept(sql, actor, rows)) this.#accepted.add(id);
        return undefined;
      }
      case 'crash-alone': {
        const run = pick(actor.runs.values(), next.which);
        if (run !== undefined) await moves.crashAlone(sql, actor, run, next.times);
        return undefined;
      }
      case 'retry':
        await moves.retryAbandoned(sql, subset(this.#before.abandoned, next.some));
        return undefined;
      case 'activate':
      case 'deactivate':
        await moves.change(
          sql,
          pick(this.#hasDeleted ? sources.slice(0, -1) : sources, next.which) as string,
          next.kind,
        );
        return undefined;
      case 'delete':
        this.#hasDeleted = true;
        await moves.change(sql, sources.at(-1) as string, 'delete');
        return undefined;
      case 'work': {
        const job = pick(this.#dueJobs(), next.which);
        if (job !== undefined) await moves.work(sql, actor, job, next.limit);
        return undefined;
      }
      case 'commit': {
        const held = subset(actor.runs.values(), next.some);
        for (const { id } of actor.runs.values()) if (!held.some((run) => run.id === id)) memory.runs.delete(id);
        return held.length === 0 ? [] : moves.commit(sql, actor, held, next.capacity);
      }
      case 'record': {
        const results = subset(actor.deliveries.values(), next.some).map(({ id, webhookId }) =>
          this.#attempt(webhookId, id, next.status),
        );
        memory.recorded = [...actor.unrecorded, ...results];
        if (memory.recorded.length > 0) await moves.record(sql, actor, results);
        return undefined;
      }
      case 'give-back-runs': {
        const held = subset(actor.runs.values(), next.some);
        await moves.giveBackRuns(sql, actor, held);
        return undefined;
      }
      case 'give-back-deliveries':
        await moves.giveBackDeliveries(sql, actor, subset(actor.deliveries.values(), next.some));
        return undefined;
      case 'redeliver':
        await moves.redeliver(sql, pick(webhooks, next.which) as string);
        return undefined;
      case 'give-back-unheld':
        await moves.giveBackUnheld(sql, actor);
        return undefined;
      case 'crash':
        this.#silent.add(actor.id);
        await moves.silence(model.test.db.sql, actor.id);
        await moves.crash(model.test.db.sql, next.node);
        return undefined;
      case 'silence':
        this.#silent.add(actor.id);
        await moves.silence(model.test.db.sql, actor.id);
        return undefined;
      case 'declare-dead':
        this.#silent.add(actor.id);
        await moves.silence(model.test.db.sql, actor.id);
        await moves.recover(sql, this.#world.nodes.find((one) => one !== actor) as LeaseNode);
        return undefined;
      case 'recover':
        await moves.recover(sql, actor);
        return undefined;
      case 'beat':
        await moves.beat(model.test.db.sql, actor);
        this.#silent.delete(actor.id);
        return undefined;
      case 'stop':
        await moves.stop(model.test.db.sql, next.node);
        return undefined;
    }
  }

  #attempt(webhookId: string, deliveryId: string, status: DeliveryResult['status']): DeliveryResult {
    const attempt = { at: new Date().toISOString(), error: `attempt ${++this.#attempts}`, duration_ms: 1 };
    const settings = webhookId === this.#world.ordered ? { settings: { wakesLane: true as const } } : {};
    const base = { item: { accountId: this.#world.accountId, webhookId, id: deliveryId, ...settings }, attempt };
    return status === 'pending' ? { ...base, status, nextAttemptAtMs: Date.now() - 5_000 } : { ...base, status };
  }

  #dueJobs(): JobState[] {
    return this.#before.jobs.filter(({ pool, runAtMs }) => pool === null && runAtMs <= Date.now());
  }

  #judge(
    next: LeaseMove,
    memory: LeaseMemory,
    after: LeaseRows,
    { done, wasCut }: { done?: string[] | undefined; wasCut: boolean },
  ): void {
    const before = this.#before;
    const { sources } = this.#world;
    const say = (fault: string) => this.faults.push(`after ${next.kind}: ${fault}`);
    const isDead = (holder: string) => this.#silent.has(holder) || !before.nodes.has(holder);
    const changed: string[] = [];
    for (const id of new Set([before, after].flatMap(idsOf))) {
      this.#accepted.add(id);
      const [was, is] = [before.invocations.get(id), after.invocations.get(id)];
      if (was?.source === sources.at(-1) && this.#hasDeleted) this.#doomed.add(id);
      const ends = {
        wasEnded: before.events.includes(id),
        hasEnded: after.events.includes(id),
        wasAbandoned: before.abandoned.includes(id),
        isAbandoned: after.abandoned.includes(id),
        abandonedClaim: this.#abandonedClaims.get(id),
      };
      if (ends.isAbandoned && was !== undefined) this.#abandonedClaims.set(id, was.claim);
      const isSameEnd = ends.wasEnded === ends.hasEnded && ends.wasAbandoned === ends.isAbandoned;
      if (JSON.stringify(was) === JSON.stringify(is) && isSameEnd) continue;
      changed.push(id);
      const isDoomed = this.#doomed.has(id) || (ends.wasAbandoned && this.#hasDeleted);
      if (isDoomed) this.#doomed.add(id);
      if (!isLegalRun(next.kind, memory, { ...ends, id, was, is, isDoomed, wasCut, isDead }))
        say(`${id} went from ${JSON.stringify(was)} to ${JSON.stringify(is)}`);
    }
    if (next.kind === 'commit' && done !== undefined && !isSame(done, changed))
      say('a commit answered otherwise than it did');
    for (const id of new Set([...before.deliveries.keys(), ...after.deliveries.keys()])) {
      const [was, is] = [before.deliveries.get(id), after.deliveries.get(id)];
      if (sameDelivery(was, is)) continue;
      if (
        is === undefined ||
        !isLegalDelivery(next.kind, memory, { id, was, is, isDead, isOrdered: is?.webhook === this.#world.ordered })
      )
        say(`${id} went from ${JSON.stringify(was)} to ${JSON.stringify(is)}`);
    }
    for (const fault of brokenRules(after, this.#accepted, this.#doomed)) say(fault);
    for (const fault of brokenOrder(after, this.#world.ordered)) say(fault);
  }

  /** All nodes but one are gone, and that one has no faults. */
  async finish(): Promise<void> {
    const base = { node: 0, cut: undefined };
    for (let at = 0; at < LEASE_NODES; at++) await this.play({ ...base, node: at, kind: 'crash' });
    for (const id of this.#before.nodes)
      if (id !== this.#world.nodes[0]?.id) {
        this.#silent.add(id);
        await this.#world.moves.silence(model.test.db.sql, id);
      }
    await this.play({ ...base, kind: 'recover' });
    const kept = this.#hasDeleted ? LEASE_SOURCES - 1 : LEASE_SOURCES;
    for (let which = 0; which < kept; which++) await this.play({ ...base, kind: 'activate', which });
    if (this.#hasDeleted) await this.play({ ...base, kind: 'delete' });
    // Each round takes something on: a lane brings ten, and an attempt may be tried again once for
    // each that was made.
    for (let round = 0; this.#isOpen(); round++) {
      if (round > 100 || this.faults.length > 0) {
        this.faults.push('what was left did not come to its end');
        return;
      }
      for (let jobs = this.#dueJobs().length; jobs > 0; jobs--)
        await this.play({ ...base, kind: 'work', which: 0, limit: 10 });
      await this.play({ ...base, kind: 'commit', some: 255, capacity: 3 });
      await this.play({ ...base, kind: 'retry', some: 255 });
      await this.play({ ...base, kind: 'record', some: 255, status: 'delivered' });
    }
  }

  #isOpen(): boolean {
    return (
      this.#before.invocations.size + this.#before.abandoned.length > 0 ||
      [...this.#before.deliveries.values()].some(({ status }) => status === 'pending')
    );
  }
}

const idsOf = ({ invocations, events, abandoned }: LeaseRows) => [...invocations.keys(), ...events, ...abandoned];

async function playAll(all: readonly LeaseMove[]): Promise<string[]> {
  const world = await createLeaseWorld(model.test.db.sql, model.accountId, LEASE_NODES);
  const history = new History(world, await world.read());
  try {
    for (const next of all) {
      await history.play(next);
      if (history.faults.length > 0) break;
    }
    if (history.faults.length === 0) await history.finish();
    return history.faults;
  } finally {
    await world.end();
  }
}

it('under any moves and cuts of nodes each invocation ends once, and each delivery keeps a holder or a lane', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(leaseMove, { minLength: 25, maxLength: 45 }), async (all) => {
      expect(await playAll(all)).toEqual([]);
    }),
    // The last move of one that fails is the one that matters; to look for a shorter one takes
    // minutes.
    { numRuns: modelHistories(8), endOnFailure: true },
  );
}, 3_600_000);
