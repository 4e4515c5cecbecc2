import { newId } from '@headwater/shared';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunCommit } from '../../../engine/src/runs/commit/commit-plan.ts';
import { createBatcher, isDataError } from '../../../engine/src/db/batcher.ts';
import { commitRuns } from '../../../engine/src/runs/commit/commit-runs.sql.ts';
import { blockedBy } from '../../support/blocked-backends.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';

let test: TestDatabase;
let accountId: string;
let sourceId: string;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

beforeEach(async () => {
  accountId = newId('account');
  sourceId = newId('source');
  await test.db.sql`insert into accounts (id, name) values (${accountId}, 'Test')`;
  await test.db.sql`insert into emitter_state (emitter_id, account_id) values (${sourceId}, ${accountId})`;
});

async function invocation(leasedBy: string): Promise<{ id: string; leasedBy: string; claim: number }> {
  const id = newId('invocation');
  await test.db.sql`
    insert into invocations (id, account_id, source_id, kind, event, leased_by)
    values (${id}, ${accountId}, ${sourceId}, 'http', '{}', ${leasedBy})`;
  return { id, leasedBy, claim: 1 };
}

function runOf(held: { id: string; leasedBy: string; claim: number }, ids: readonly (string | number)[]): RunCommit {
  return {
    accountId,
    sourceId,
    invocation: held,
    final: true,
    dedupe: 'unique',
    emits: ids.map((id) => ({ data: JSON.stringify({ id }), id, emittedAtMs: 1 })),
    dbWrites: new Map(),
  };
}

const commit = (runs: readonly RunCommit[], nodeId = 'node_a', deliveryCapacity = 1_000) =>
  commitRuns(test.db.sql, runs, {
    nodeId,
    deliveryCapacity: () => deliveryCapacity,
    runCapacity: () => 1_000,
    nowMs: Date.now,
  });

async function storedIds(): Promise<string[]> {
  const rows = await test.db.sql<{ emit_id: string }[]>`
    select emit_id from events where emitter_id = ${sourceId} order by indexed_at_ms, seq`;
  return rows.map((row) => row.emit_id);
}

async function webhook(): Promise<string> {
  const id = newId('webhook');
  await test.db.sql`
    insert into users (id, account_id, username) values (${`u_${id}`}, ${accountId}, 'someone')`;
  await test.db.sql`
    insert into webhooks (id, account_id, user_id, url, format, secret)
    values (${id}, ${accountId}, ${`u_${id}`}, 'http://127.0.0.1:9/', 'raw', 'sealed')`;
  return id;
}

async function subscribe(emitterId: string, listenerId: string, channel = ''): Promise<void> {
  await test.db.sql`
    insert into subscriptions (id, account_id, emitter_id, listener_id, event_name)
    values (${newId('subscription')}, ${accountId}, ${emitterId}, ${listenerId}, ${channel})`;
}

describe('a commit', () => {
  it('ends the invocation and stores its events, state and values together', async () => {
    const held = await invocation('node_a');
    const run = { ...runOf(held, ['a', 'b', 'a']), dbWrites: new Map([['cursor', '7']]) };
    const [result] = await commit([run]);
    expect(result).toMatchObject({ committed: true, events: 2 });
    expect(await storedIds()).toEqual(['a', 'b']);
    expect(await test.db.sql`select 1 from invocations where id = ${held.id}`).toHaveLength(0);
    expect(await test.db.sql`select value from component_db where source_id = ${sourceId}`).toEqual([{ value: '7' }]);
  });

  it('deletes the keys that are set to nothing, and their bytes with them', async () => {
    const set = (writes: [string, string][]) => async () =>
      commit([{ ...runOf(await invocation('node_a'), []), dbWrites: new Map(writes), maxDbBytes: 200 }]);
    const stored = async () => {
      const rows = await test.db.sql<{ key: string }[]>`select key from component_db where source_id = ${sourceId}`;
      const [state] = await test.db.sql`select db_bytes from emitter_state where emitter_id = ${sourceId}`;
      return [rows.map((row) => row.key).toSorted((a, b) => (a < b ? -1 : 1)), state?.['db_bytes']];
    };
    await set([
      ['a', '"x"'],
      ['b', '1'],
    ])();
    expect(await stored()).toEqual([['a', 'b'], 134]);
    await set([
      ['a', ''],
      ['none', ''],
      ['c', '22'],
    ])();
    expect(await stored()).toEqual([['b', 'c'], 133]);
    await set([
      ['b', ''],
      ['c', ''],
    ])();
    expect(await stored()).toEqual([[], 0]);
  });

  it('writes nothing of a run whose lease another node has taken', async () => {
    const held = await invocation('node_b');
    const [result] = await commit([runOf({ ...held, leasedBy: 'node_a' }, ['a'])]);
    expect(result).toMatchObject({ committed: false, events: 0 });
    expect(await storedIds()).toEqual([]);
    expect(await test.db.sql`select 1 from invocations where id = ${held.id}`).toHaveLength(1);
  });

  it('repeated for the same run writes nothing', async () => {
    const run = runOf(await invocation('node_a'), ['a']);
    await commit([run]);
    expect(await commit([run])).toMatchObject([{ committed: false }]);
    expect(await storedIds()).toEqual(['a']);
  });

  it('from two nodes at once lets each id through once', async () => {
    const batch = async (node: string) =>
      Promise.all(Array.from({ length: 20 }, async (_, i) => runOf(await invocation(node), [i % 10, (i + 3) % 10])));
    const [a, b] = await Promise.all([batch('node_a'), batch('node_b')]);
    await Promise.all([
      ...a.map((run) => commit([run], 'node_a')),
      commit(b.slice(0, 10), 'node_b'),
      commit(b.slice(10), 'node_b'),
    ]);
    expect((await storedIds()).toSorted()).toEqual(Array.from({ length: 10 }, (_, i) => String(i)));
  });

  it('waiting for an invocation holds none with a greater id, in each order of ends', async () => {
    const [first, second, third] = [await invocation('node_a'), await invocation('node_a'), await invocation('node_a')]
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map((held) => runOf(held, [held.id]));
    let committed: ReturnType<typeof commit> | undefined;
    await test.db.sql.begin(async (tx) => {
      // The lease is unchanged, so a writer that waited for the row continues with its new version.
      await tx`update invocations set attempts = 5 where id = ${first!.invocation!.id}`;
      committed = commit([third!, { ...second!, final: false }, first!]);
      await eventually(async () => (await blockedBy(tx)).length > 0);
      const others = [second!.invocation!.id, third!.invocation!.id];
      expect(await tx`select from invocations where id = any(${others}::text[]) for update nowait`).toHaveLength(2);
    });
    expect((await committed)?.map((run) => run.committed)).toEqual([true, true, true]);
    const left = await test.db.sql<{ id: string }[]>`select id from invocations where source_id = ${sourceId}`;
    expect(left.map(({ id }) => id)).toEqual([second!.invocation!.id]);
  });

  it('gives events of one emitter ids that only grow, also when the clock goes back', async () => {
    const at = (nowMs: number) => ({
      nodeId: 'node_a',
      deliveryCapacity: () => 0,
      runCapacity: () => 0,
      nowMs: () => nowMs,
    });
    await commitRuns(test.db.sql, [runOf(await invocation('node_a'), [1, 2])], at(5_000));
    await commitRuns(test.db.sql, [runOf(await invocation('node_a'), [3])], at(4_000));
    await commitRuns(test.db.sql, [runOf(await invocation('node_a'), [4])], at(6_000));
    const rows = await test.db.sql`
      select indexed_at_ms, seq from events where emitter_id = ${sourceId} order by emit_id`;
    expect(rows.map((row) => `${row['indexed_at_ms']}-${row['seq']}`)).toEqual([
      '5000-0',
      '5000-1',
      '5000-2',
      '6000-0',
    ]);
  });

  it('makes one delivery for each webhook, also when its subscriptions match twice', async () => {
    const listener = await webhook();
    await subscribe(sourceId, listener);
    await subscribe('dc_*', listener);
    const other = await webhook();
    await subscribe(sourceId, other, 'another-channel');
    const [result] = await commit([runOf(await invocation('node_a'), ['a'])]);
    expect(result?.deliveries.map((delivery) => delivery.listener.webhookId)).toEqual([listener]);
  });

  it('leases no more of an account than the node has room for, over all its webhooks', async () => {
    for (let i = 0; i < 4; i++) await subscribe(sourceId, await webhook());
    const [result] = await commitRuns(test.db.sql, [runOf(await invocation('node_a'), ['a', 'b'])], {
      nodeId: 'node_a',
      deliveryCapacity: (of) => (of === undefined ? 100 : of.webhookId === undefined ? 3 : 2),
      runCapacity: () => 0,
      nowMs: Date.now,
    });
    expect(result?.deliveries).toHaveLength(3);
  });

  it('leases no more of webhooks that fail than may wait of all of them together', async () => {
    for (let i = 0; i < 4; i++) await subscribe(sourceId, await webhook());
    const [result] = await commitRuns(test.db.sql, [runOf(await invocation('node_a'), ['a', 'b'])], {
      nodeId: 'node_a',
      deliveryCapacity: () => 100,
      sharedDeliveryCapacity: () => 3,
      runCapacity: () => 0,
      nowMs: Date.now,
    });
    expect(result?.deliveries).toHaveLength(3);
  });

  it('leaves deliveries beyond the node’s room to any node, with a lane that brings them up', async () => {
    const listener = await webhook();
    await subscribe(sourceId, listener);
    const [result] = await commit([runOf(await invocation('node_a'), ['a', 'b', 'c'])], 'node_a', 1);
    expect(result?.deliveries).toHaveLength(1);
    const rows = await test.db.sql`select leased_by from deliveries where webhook_id = ${listener} order by id`;
    expect(rows.filter((row) => row['leased_by'] === null)).toHaveLength(2);
    const jobs = await test.db.sql`select key from graphile_worker.jobs where key like ${`deliver:${listener}:%`}`;
    expect(jobs).toHaveLength(1);
  });

  it('goes through when the data of another run in its batch cannot be stored', async () => {
    const good = runOf(await invocation('node_a'), ['good']);
    const bad = { ...runOf(await invocation('node_a'), ['bad']), dbWrites: new Map([['nul\0', '1']]) };
    const batcher = createBatcher({ maxBatch: 10, minIntervalMs: 0, commit, isItemsFault: isDataError });
    const results = await Promise.allSettled([batcher.add(bad), batcher.add(good)]);
    expect(results.map((result) => result.status)).toEqual(['rejected', 'fulfilled']);
    expect(await storedIds()).toEqual(['good']);
  });
});

describe('runs that leave nothing', () => {
  it('end, each for its holder alone, while their emitter is locked', async () => {
    const own = await invocation('node_a');
    const lost = await invocation('node_b');
    const older = { ...(await invocation('node_a')), claim: 0 };
    let ends: boolean[] = [];
    await test.db.sql.begin(async (tx) => {
      await tx`select from emitter_state where emitter_id = ${sourceId} for update`;
      const stolen = { ...lost, leasedBy: 'node_a' };
      const ended = await commit([own, own, stolen, older].map((held) => runOf(held, [])));
      ends = ended.map(({ committed }) => committed);
    });
    expect(ends).toEqual([true, false, false, false]);
    const left = await test.db.sql<{ id: string }[]>`select id from invocations where source_id = ${sourceId}`;
    expect(new Set(left.map(({ id }) => id))).toEqual(new Set([lost.id, older.id]));
  });

  it('end beside one that emits, which is stored', async () => {
    const [quiet, loud] = [await invocation('node_a'), await invocation('node_a')];
    const ended = await commit([runOf(quiet, []), runOf(loud, [1])]);
    expect(ended.map(({ committed, events }) => [committed, events])).toEqual([
      [true, 0],
      [true, 1],
    ]);
    expect(await storedIds()).toEqual(['1']);
    expect(await test.db.sql`select from invocations where source_id = ${sourceId}`).toHaveLength(0);
  });

  it('are found by their ids, unless their lease was lost', async () => {
    const own = await invocation('node_a');
    const lost = { ...(await invocation('node_b')), leasedBy: 'node_a' };
    const ran = { fromMs: 1_000, toMs: 2_000 };
    await commit([own, own, lost].map((held) => ({ ...runOf(held, []), ran })));
    const rows = await test.db.sql`
      select id, kind, status, emitted, deduped, recorded_ms from runs where source_id = ${sourceId}`;
    expect([...rows]).toEqual([{ id: own.id, kind: 'event', status: 'ok', emitted: 0, deduped: 0, recorded_ms: null }]);
  });
});
