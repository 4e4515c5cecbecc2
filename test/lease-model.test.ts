import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Database, openDatabase } from '../engine/src/store/database.ts';
import type { AttemptResult } from '../engine/src/store/record-attempts.ts';
import { createTestDatabase, type TestDatabase } from './support/database.ts';
import {
  createLeaseWorld,
  type DeliveryState,
  type InvocationState,
  type JobState,
  type LeaseNode,
  type LeaseRows,
  type LeaseWorld,
} from './support/lease-world.ts';
import { fc } from './support/properties.ts';
import { insertAccount } from './support/source-rows.ts';
import { type StatementCut, type StatementCutter, startStatementCutter } from './support/statement-cutter.ts';

/*
 * Invocations, leases and deliveries, driven by random moves of three nodes, of which any may crash, be declared dead while it
 * lives, or lose its connection at any statement. After each move every row is where the move may have brought it, and every
 * row that waits has who comes for it. At the end what is left comes to its end without a hand.
 */

/** Each has 25 to 45 moves and some dozens of invocations. */
const HISTORIES = Number(process.env['HEADWATER_MODEL_HISTORIES'] ?? 40);
const NODES = 3;

let test: TestDatabase;
let cutter: StatementCutter;
let cutOff: Database;
let accountId: string;

beforeAll(async () => {
  test = await createTestDatabase();
  cutter = await startStatementCutter(test.url);
  cutOff = openDatabase({ url: cutter.url, maxConnections: 1 });
  accountId = await insertAccount(test.db.sql);
});
afterAll(async () => {
  await cutOff.close();
  await cutter.stop();
  await test.drop();
});

/** `which` and `some` choose among those there are. */
type Move = { node: number; cut: StatementCut | undefined } & (
  | { kind: 'accept'; rows: { source: number; isHeld: boolean }[] }
  | { kind: 'work'; which: number; limit: number }
  | { kind: 'commit'; some: number; capacity: number }
  | { kind: 'record'; some: number; status: AttemptResult['status'] }
  | { kind: 'give-back-runs' | 'give-back-deliveries'; some: number }
  | { kind: 'redeliver'; which: number }
  | { kind: 'give-back-unheld' | 'crash' | 'silence' | 'declare-dead' | 'recover' | 'beat' | 'stop' }
);

const node = fc.nat({ max: NODES - 1 });
const which = fc.nat({ max: 20 });
const some = fc.integer({ min: 1, max: 255 });
const cut = fc.option(
  fc.record({ at: fc.integer({ min: 1, max: 9 }), when: fc.constantFrom('before' as const, 'answered' as const) }),
  { nil: undefined, freq: 3 },
);
const source = fc.nat({ max: 1 });
const of = <K extends string>(...kinds: K[]) => fc.constantFrom(...kinds);
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: of('accept'),
      node,
      cut,
      rows: fc.array(fc.record({ source, isHeld: fc.boolean() }), { minLength: 1, maxLength: 12 }),
    }),
  },
  { weight: 9, arbitrary: fc.record({ kind: of('work'), node, cut, which, limit: fc.integer({ min: 1, max: 8 }) }) },
  { weight: 6, arbitrary: fc.record({ kind: of('commit'), node, cut, some, capacity: fc.constantFrom(0, 3, 8) }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: of('record'), node, cut, some, status: of('delivered', 'pending', 'failed') }),
  },
  { weight: 2, arbitrary: fc.record({ kind: of('give-back-runs', 'give-back-deliveries'), node, cut, some }) },
  { weight: 1, arbitrary: fc.record({ kind: of('redeliver'), node, cut, which }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: of('give-back-unheld', 'crash', 'silence', 'declare-dead', 'declare-dead', 'recover', 'beat', 'stop'),
      node,
      cut,
    }),
  },
);

const pick = <T>(from: Iterable<T>, at: number): T | undefined => {
  const all = [...from];
  return all[at % Math.max(1, all.length)];
};
const subset = <T>(from: Iterable<T>, mask: number): T[] => [...from].filter((_, at) => (mask & (1 << (at % 8))) !== 0);

/** What the actor remembered before its move. */
interface Memory {
  id: string;
  runs: Map<string, { leasedBy: string; claim: number }>;
  deliveries: Set<string>;
  recorded: AttemptResult[];
}

class History {
  readonly faults: string[] = [];
  readonly #world: LeaseWorld;
  readonly #accepted = new Set<string>();
  readonly #silent = new Set<string>();
  #before: LeaseRows;
  #attempts = 0;

  constructor(world: LeaseWorld, before: LeaseRows) {
    this.#world = world;
    this.#before = before;
  }

  async play(next: Move): Promise<void> {
    const actor = this.#actorOf(next);
    const memory = remember(actor);
    if (next.cut !== undefined) cutter.arm(next.cut);
    let done: string[] | undefined;
    let error: Error | undefined;
    try {
      done = await this.#do(next, actor, memory, next.cut === undefined ? test.db.sql : cutOff.sql);
    } catch (thrown) {
      error = thrown as Error;
    }
    const wasCut = cutter.disarm();
    if (error !== undefined && !wasCut) this.faults.push(`${next.kind} failed: ${error.message}`);
    const after = await this.#world.read();
    this.#judge(next, memory, after, done);
    this.#before = after;
  }

  /** One that has something for the move, if any has. */
  #actorOf({ kind, node: at }: Move): LeaseNode {
    const { nodes } = this.#world;
    const isAble = (one: LeaseNode) => {
      if (kind === 'commit' || kind === 'give-back-runs') return one.runs.size > 0;
      if (kind === 'record' || kind === 'give-back-deliveries') return one.deliveries.size > 0;
      if (kind === 'declare-dead') return one.runs.size + one.deliveries.size > 0 && !this.#silent.has(one.id);
      return true;
    };
    return (pick(nodes.filter(isAble), at) ?? nodes[at]) as LeaseNode;
  }

  /** Answers the ids that the move says to have changed, where it says so. */
  async #do(next: Move, actor: LeaseNode, memory: Memory, sql: Database['sql']): Promise<string[] | undefined> {
    const { moves, webhooks } = this.#world;
    switch (next.kind) {
      case 'accept':
        for (const id of await moves.accept(sql, actor, next.rows)) this.#accepted.add(id);
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
        await moves.silence(test.db.sql, actor.id);
        await moves.crash(test.db.sql, next.node);
        return undefined;
      case 'silence':
        this.#silent.add(actor.id);
        await moves.silence(test.db.sql, actor.id);
        return undefined;
      case 'declare-dead':
        this.#silent.add(actor.id);
        await moves.silence(test.db.sql, actor.id);
        await moves.recover(sql, this.#world.nodes.find((one) => one !== actor) as LeaseNode);
        return undefined;
      case 'recover':
        await moves.recover(sql, actor);
        return undefined;
      case 'beat':
        await moves.beat(test.db.sql, actor);
        this.#silent.delete(actor.id);
        return undefined;
      case 'stop':
        await moves.stop(test.db.sql, next.node);
        return undefined;
    }
  }

  #attempt(webhookId: string, deliveryId: string, status: AttemptResult['status']): AttemptResult {
    const attempt = { at: new Date().toISOString(), error: `attempt ${++this.#attempts}`, duration_ms: 1 };
    const base = { webhookId, deliveryId, attempt };
    return status === 'pending' ? { ...base, status, nextAttemptAtMs: Date.now() - 5_000 } : { ...base, status };
  }

  #dueJobs(): JobState[] {
    return this.#before.jobs.filter(({ pool, runAtMs }) => pool === null && runAtMs <= Date.now());
  }

  #judge(next: Move, memory: Memory, after: LeaseRows, done: string[] | undefined): void {
    const before = this.#before;
    const say = (fault: string) => this.faults.push(`after ${next.kind}: ${fault}`);
    const isDead = (holder: string) => this.#silent.has(holder) || !before.nodes.has(holder);
    const ended = (rows: LeaseRows, id: string) => rows.events.includes(id);
    const changed: string[] = [];
    for (const id of new Set([...before.invocations.keys(), ...after.invocations.keys(), ...after.events])) {
      this.#accepted.add(id);
      const [was, is] = [before.invocations.get(id), after.invocations.get(id)];
      if (JSON.stringify(was) === JSON.stringify(is) && ended(before, id) === ended(after, id)) continue;
      changed.push(id);
      if (
        !isLegalRun(next.kind, memory, { id, was, is, hasEnded: ended(after, id), wasEnded: ended(before, id), isDead })
      )
        say(`${id} went from ${JSON.stringify(was)} to ${JSON.stringify(is)}`);
    }
    if (next.kind === 'commit' && done !== undefined && !isSame(done, changed))
      say('a commit answered otherwise than it did');
    for (const id of new Set([...before.deliveries.keys(), ...after.deliveries.keys()])) {
      const [was, is] = [before.deliveries.get(id), after.deliveries.get(id)];
      if (sameDelivery(was, is)) continue;
      if (is === undefined || !isLegalDelivery(next.kind, memory, { id, was, is, isDead }))
        say(`${id} went from ${JSON.stringify(was)} to ${JSON.stringify(is)}`);
    }
    for (const fault of brokenRules(after, this.#accepted)) say(fault);
  }

  /** Everybody is gone but one node, to whom nothing happens. */
  async finish(): Promise<void> {
    const base = { node: 0, cut: undefined };
    for (let at = 0; at < NODES; at++) await this.play({ ...base, node: at, kind: 'crash' });
    for (const id of this.#before.nodes)
      if (id !== this.#world.nodes[0]?.id) {
        this.#silent.add(id);
        await this.#world.moves.silence(test.db.sql, id);
      }
    await this.play({ ...base, kind: 'recover' });
    // Each round takes something on: a lane brings ten, and an attempt may be tried again once for each that was made.
    for (let round = 0; this.#isOpen(); round++) {
      if (round > 100 || this.faults.length > 0) {
        this.faults.push('what was left did not come to its end');
        return;
      }
      for (let jobs = this.#dueJobs().length; jobs > 0; jobs--)
        await this.play({ ...base, kind: 'work', which: 0, limit: 10 });
      await this.play({ ...base, kind: 'commit', some: 255, capacity: 3 });
      await this.play({ ...base, kind: 'record', some: 255, status: 'delivered' });
    }
  }

  #isOpen(): boolean {
    return (
      this.#before.invocations.size > 0 ||
      [...this.#before.deliveries.values()].some(({ status }) => status === 'pending')
    );
  }
}

const remember = (actor: LeaseNode): Memory => ({
  id: actor.id,
  runs: new Map(actor.runs),
  deliveries: new Set(actor.deliveries.keys()),
  recorded: [],
});

interface RunChange {
  id: string;
  was: InvocationState | undefined;
  is: InvocationState | undefined;
  wasEnded: boolean;
  hasEnded: boolean;
  isDead: (holder: string) => boolean;
}

function isLegalRun(
  kind: Move['kind'],
  memory: Memory,
  { id, was, is, wasEnded, hasEnded, isDead }: RunChange,
): boolean {
  if (wasEnded) return false;
  if (was === undefined) {
    const isNew =
      is?.holder === null ? is.claim === 0 && is.attempts === 0 : is?.holder === memory.id && is.claim === 1;
    return kind === 'accept' && isNew;
  }
  const mine = memory.runs.get(id);
  const isMine = was.holder !== null && mine?.leasedBy === was.holder && mine.claim === was.claim;
  if (hasEnded) return kind === 'commit' && is === undefined && isMine;
  if (is === undefined) return false;
  if (was.holder === null) {
    const isNextClaim = is.claim === was.claim + 1 && is.attempts === was.attempts + 1;
    return kind === 'work' && is.holder === memory.id && isNextClaim;
  }
  if (is.holder !== null || is.claim !== was.claim || is.attempts !== was.attempts) return false;
  return (
    (kind === 'give-back-runs' && isMine) ||
    (kind === 'give-back-unheld' && was.holder === memory.id && mine?.leasedBy !== memory.id) ||
    (kind === 'stop' && was.holder === memory.id) ||
    (isRecovery(kind) && isDead(was.holder))
  );
}

const isRecovery = (kind: Move['kind']) => kind === 'recover' || kind === 'declare-dead';

interface DeliveryChange {
  id: string;
  was: DeliveryState | undefined;
  is: DeliveryState;
  isDead: (holder: string) => boolean;
}

function isLegalDelivery(kind: Move['kind'], memory: Memory, { id, was, is, isDead }: DeliveryChange): boolean {
  if (was === undefined)
    return kind === 'commit' && is.status === 'pending' && is.count === 0 && [null, memory.id].includes(is.holder);
  const isGivenBack = is.holder === null && is.status === 'pending' && is.count === was.count;
  if (was.status === 'failed') return kind === 'redeliver' && is.status === 'pending' && is.count === 0;
  if (was.status !== 'pending') return false;
  if (was.holder === null) return kind === 'work' && was.isDue && is.holder === memory.id && is.count === was.count;
  const isMine = was.holder === memory.id;
  if (kind === 'record') {
    const result = memory.recorded.find(({ deliveryId }) => deliveryId === id);
    return isMine && is.holder === null && is.count === was.count + 1 && is.status === result?.status;
  }
  return (
    isGivenBack &&
    ((kind === 'give-back-deliveries' && isMine && memory.deliveries.has(id)) ||
      (kind === 'give-back-unheld' && isMine && !memory.deliveries.has(id)) ||
      (kind === 'stop' && isMine) ||
      (isRecovery(kind) && isDead(was.holder)))
  );
}

/** What holds of the rows whatever has happened. */
function brokenRules({ invocations, events, deliveries, jobs }: LeaseRows, accepted: ReadonlySet<string>): string[] {
  const lanes = new Map<string, number>();
  for (const { key, runAtMs } of jobs) {
    const lane = key.split(':').slice(0, 2).join(':');
    lanes.set(lane, Math.min(runAtMs, lanes.get(lane) ?? runAtMs));
  }
  const faults: string[] = [];
  for (const id of accepted) {
    const copies = events.filter((event) => event === id).length;
    if (copies > 1) faults.push(`${id} ended ${copies} times`);
    if (copies === 0 && !invocations.has(id)) faults.push(`${id} is lost`);
    if (copies === 1 && invocations.has(id)) faults.push(`${id} has ended and is still there`);
    const own = [...deliveries.values()].filter(({ item }) => item === id).length;
    if (own !== copies) faults.push(`the event of ${id} has ${own} deliveries`);
  }
  for (const [id, { holder, source: lane }] of invocations)
    if (holder === null && !lanes.has(`run:${lane}`)) faults.push(`nobody comes for ${id}`);
  for (const [id, { status, holder, webhook, attempts, dueMs }] of deliveries) {
    // The job of a retry begins with the second after it.
    const comesAtMs = lanes.get(`deliver:${webhook}`) ?? Infinity;
    if (status === 'pending' && holder === null && comesAtMs > Math.max(dueMs, Date.now()) + 1_000)
      faults.push(`nobody comes for ${id}`);
    if (status !== 'pending' && holder !== null) faults.push(`${id} is ${status} and has a holder`);
    if (new Set(attempts).size !== attempts.length) faults.push(`an attempt of ${id} was recorded twice`);
  }
  return faults;
}

const sameDelivery = (a?: DeliveryState, b?: DeliveryState) =>
  JSON.stringify({ ...a, isDue: 0 }) === JSON.stringify({ ...b, isDue: 0 });
const isSame = (a: readonly string[], b: readonly string[]) => new Set(a).symmetricDifference(new Set(b)).size === 0;

async function playAll(all: readonly Move[]): Promise<string[]> {
  const world = await createLeaseWorld(test.db.sql, accountId, NODES);
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

it('whatever nodes do and wherever they are cut off, each invocation ends once, and each delivery has who comes for it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 25, maxLength: 45 }), async (all) => {
      expect(await playAll(all)).toEqual([]);
    }),
    // The last move of one that fails is the one that matters; to look for a shorter one takes minutes.
    { numRuns: HISTORIES, endOnFailure: true },
  );
}, 3_600_000);
