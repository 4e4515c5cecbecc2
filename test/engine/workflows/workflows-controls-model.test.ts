import { newId } from '@headwater/shared';
import { fc } from '../../support/properties.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { claimExecutions } from '../../../engine/src/workflows/controls/claim-executions.sql.ts';
import type { Sql } from '../../../engine/src/db/database.ts';
import { insertInTurn } from '../../../engine/src/workflows/controls/insert-in-turn.sql.ts';
import { registerNode, releaseNode } from '../../../engine/src/cluster/nodes.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { insertAccount } from '../../support/source-rows.ts';
import { insertTurnWorkflow, type TurnSettings } from '../../support/turn-rows.ts';

let test: TestDatabase;
let accountId: string;

beforeAll(async () => {
  test = await createTestDatabase();
  accountId = await insertAccount(test.db.sql);
});
afterAll(() => test.drop());

/** `which` picks among those there are. */
type Move =
  | { kind: 'queue'; count: number }
  | { kind: 'claim'; node: 0 | 1; limit: number }
  | { kind: 'claim-both' }
  | { kind: 'end' | 'delay' | 'retry' | 'wake'; which: number }
  | { kind: 'kill'; node: 0 | 1 };

const which = fc.nat({ max: 20 });
const node = fc.constantFrom<0 | 1>(0, 1);
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('queue' as const), count: fc.integer({ min: 1, max: 4 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('claim' as const), node, limit: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('claim-both' as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constantFrom('end' as const, 'delay', 'retry', 'wake', 'wake'), which }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const), node }) },
);

/** Plays moves of two nodes on the tables and remembers what came of them. */
function createWorld(sql: Sql, workflowId: string) {
  const nodes = [newId('node'), newId('node')];
  const running = new Map<string, string>();
  const parked = new Map<string, 'delay' | 'retry'>();
  const accepted: string[] = [];
  const begun: string[] = [];
  const ended: string[] = [];
  const faults: string[] = [];
  const pick = <T>(from: Iterable<T>, at: number): T | undefined => {
    const all = [...from];
    return all[at % Math.max(1, all.length)];
  };

  async function claim(nodeId: string, limit: number): Promise<void> {
    const { held } = await claimExecutions(sql, { workflowId, nodeId, limit });
    for (const { id } of held) {
      if (running.has(id) || parked.has(id) || ended.includes(id)) faults.push(`${id} was started a second time`);
      running.set(id, nodeId);
      if (!begun.includes(id)) begun.push(id);
    }
  }

  async function park(kind: 'delay' | 'retry', at: number): Promise<void> {
    const id = pick(running.keys(), at);
    if (id === undefined) return;
    await sql.begin(async (tx) => {
      await tx`update invocations set leased_by = 'parked', attempts = 1 where id = ${id}`;
      await tx`
        insert into execution_waits (execution_id, account_id, workflow_id, kind, position, runs, token, wake_at)
        values (${id}, ${accountId}, ${workflowId}, ${kind}, 0, 1, 't', now())`;
    });
    running.delete(id);
    parked.set(id, kind);
  }

  async function wake(at: number): Promise<void> {
    const id = pick(parked.keys(), at);
    if (id === undefined) return;
    await sql.begin(async (tx) => {
      await tx`delete from execution_waits where execution_id = ${id}`;
      await tx`update invocations set leased_by = null where id = ${id}`;
    });
    parked.delete(id);
  }

  async function end(at: number): Promise<void> {
    const id = pick(running.keys(), at);
    if (id === undefined) return;
    await sql`delete from invocations where id = ${id}`;
    running.delete(id);
    ended.push(id);
  }

  async function queue(count: number): Promise<void> {
    const rows = Array.from({ length: count }, () => ({
      id: newId('execution'),
      accountId,
      sourceId: workflowId,
      kind: 'event' as const,
      event: '{}',
    }));
    await insertInTurn(sql, rows, { startsNext: true });
    accepted.push(...rows.map(({ id }) => id));
  }

  async function kill(at: 0 | 1): Promise<void> {
    const dead = nodes[at] as string;
    await releaseNode(sql, dead);
    for (const [id, holder] of running) if (holder === dead) running.delete(id);
    nodes[at] = newId('node');
    await registerNode(sql, { id: nodes[at] as string, role: 'all' });
  }

  async function play(next: Move): Promise<void> {
    const [one = '', two = ''] = nodes;
    switch (next.kind) {
      case 'queue':
        return queue(next.count);
      case 'claim':
        return claim(next.node === 0 ? one : two, next.limit);
      case 'claim-both':
        await Promise.all([claim(one, 3), claim(two, 3)]);
        return;
      case 'end':
        return end(next.which);
      case 'delay':
      case 'retry':
        return park(next.kind, next.which);
      case 'wake':
        return wake(next.which);
      case 'kill':
        return kill(next.node);
    }
  }

  return {
    faults,
    running,
    parked,
    accepted,
    begun,
    ended,
    play,
    async start() {
      for (const id of nodes) await registerNode(sql, { id, role: 'all' });
    },
    async stop() {
      for (const id of nodes) await releaseNode(sql, id);
    },
  };
}

/** Plays the moves and returns the faults. */
async function playAll(settings: TurnSettings, moves: readonly Move[]): Promise<string[]> {
  const { sql } = test.db;
  const workflowId = await insertTurnWorkflow(sql, accountId, settings);
  const world = createWorld(sql, workflowId);
  const { faults } = world;
  await world.start();
  for (const next of moves) {
    await world.play(next);
    faults.push(...brokenRules(world, settings));
  }
  if (settings.throttle === undefined) {
    // Everything that was accepted comes to its end: each round ends one at least.
    const rounds = world.accepted.length + world.parked.size;
    for (let i = 0; i < rounds; i++) {
      for (const next of [{ kind: 'wake', which: 0 }, { kind: 'claim-both' }, { kind: 'end', which: 0 }] as const) {
        await world.play(next);
        faults.push(...brokenRules(world, settings));
      }
    }
    if (!isSame(world.ended, world.accepted)) faults.push('something was lost');
  }
  await world.stop();
  return faults;
}

function brokenRules(world: ReturnType<typeof createWorld>, { concurrency, throttle }: TurnSettings): string[] {
  const { running, parked, begun, accepted } = world;
  const holds = {
    'more run than may': running.size <= (concurrency ?? Number.POSITIVE_INFINITY),
    'something overtook what is to be tried again':
      concurrency !== 1 || running.size === 0 || ![...parked.values()].includes('retry'),
    // Executions begin in the order of their acceptance, even after failures of earlier ones.
    'something began out of order': isSame(begun, accepted.slice(0, begun.length)),
    'more began in the window than may': begun.length <= (throttle?.limit ?? Number.POSITIVE_INFINITY),
  };
  return Object.entries(holds).flatMap(([fault, isWell]) => (isWell ? [] : [fault]));
}

const isSame = (a: readonly string[], b: readonly string[]) =>
  JSON.stringify(a.toSorted()) === JSON.stringify(b.toSorted());

const moves = fc.array(move, { minLength: 5, maxLength: 40 });

it('under any moves of two nodes no more run than allowed, in order, and none is lost', async () => {
  const concurrency = fc.constantFrom(1, 1, 2, 3);
  await fc.assert(
    fc.asyncProperty(concurrency, moves, async (n, all) => {
      expect(await playAll({ concurrency: n }, all)).toEqual([]);
    }),
    { numRuns: 40 },
  );
});

it('under any moves of two nodes no more begin in a window than allowed', async () => {
  const limit = fc.integer({ min: 0, max: 8 });
  await fc.assert(
    fc.asyncProperty(limit, moves, async (n, all) => {
      expect(await playAll({ throttle: { limit: n, intervalSeconds: 86_400 } }, all)).toEqual([]);
    }),
    { numRuns: 20 },
  );
});
