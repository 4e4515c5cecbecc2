import { expect, test } from 'vitest';
import { createLimitsCache } from '../../../engine/src/accounts/limits-cache.ts';
import { createDispatcher, type Dispatcher } from '../../../engine/src/runs/dispatcher.ts';
import type { HeldInvocation } from '../../../engine/src/events/invocation.ts';
import { type AccountLimits, LIMITS } from '../../../shared/src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/logs.ts';

interface Bench {
  dispatcher: Dispatcher;
  /** Those that run now, in the order of their start. */
  running: { invocation: HeldInvocation; end: () => void }[];
  started: string[];
}

function startDispatcher(
  read: (accountId: string) => Promise<Partial<AccountLimits>>,
  isBehind: (accountId: string) => boolean = () => false,
  onRelease: (ids: string[]) => void = () => undefined,
): Bench {
  const bench: Omit<Bench, 'dispatcher'> = { running: [], started: [] };
  const dispatcher = createDispatcher({
    limits: createLimitsCache({ read }),
    isBehind,
    log: testLog,
    release: async (given) => onRelease(given.map(({ id }) => id)),
    run: (invocation) =>
      new Promise<void>((resolve) => {
        bench.started.push(invocation.id);
        const entry = {
          invocation,
          end: () => {
            const at = bench.running.indexOf(entry);
            if (at !== -1) bench.running.splice(at, 1);
            resolve();
          },
        };
        bench.running.push(entry);
      }),
  });
  return Object.assign(bench, { dispatcher });
}

let counter = 0;
function invocations(accountId: string, count: number, sourceId = `dc_${accountId}`, event = '{}'): HeldInvocation[] {
  return Array.from({ length: count }, () => ({
    id: `${accountId}-${counter++}`,
    accountId,
    sourceId,
    kind: 'http' as const,
    event,
    crashes: 0,
    attempts: 1,
    leasedBy: 'node_1',
    claim: 1,
  }));
}

test('at a stop the client of a request that is not stored is told, and nothing is given back', async () => {
  const released: string[] = [];
  const { dispatcher, started, running } = startDispatcher(
    async () => ({ maxRunsPerComponent: 1 }),
    undefined,
    (ids) => released.push(...ids),
  );
  const answers: unknown[] = [];
  const unstored = invocations('o_1', 2).map((one) => ({
    ...one,
    isUnstored: true as const,
    respond: (answer: unknown) => void answers.push(answer),
  }));
  dispatcher.take(unstored);
  await eventually(() => started.length === 1);
  await dispatcher.drain();
  expect(answers).toEqual([]);
  const stopped = dispatcher.stop();
  running[0]?.end();
  await stopped;
  expect([answers, released, started.length]).toEqual([
    [expect.objectContaining({ ok: false, request: 'lost' })],
    [],
    1,
  ]);
});

test('before a stop only runs with a waiting client are started, and the rest is given back', async () => {
  const released: string[] = [];
  const bench = startDispatcher(
    async () => ({ maxRunsPerComponent: 1 }),
    undefined,
    (ids) => released.push(...ids),
  );
  const { dispatcher, started, running } = bench;
  const respond = () => undefined;
  const [first, unasked, asked, later, wanted] = invocations('o_1', 5) as [
    HeldInvocation,
    HeldInvocation,
    HeldInvocation,
    HeldInvocation,
    HeldInvocation,
  ];
  dispatcher.take([first, unasked, { ...asked, respond }]);
  await eventually(() => started.length === 1);
  await dispatcher.drain();
  expect([released, dispatcher.capacity('o_1'), dispatcher.capacityToAnswer('o_1') > 0]).toEqual([
    [unasked.id],
    0,
    true,
  ]);
  dispatcher.take([later, { ...wanted, respond }]);
  expect(released).toEqual([unasked.id, later.id]);
  for (const { id } of [first, asked, wanted]) {
    await eventually(() => started.at(-1) === id);
    running[0]?.end();
  }
  await dispatcher.stop();
  expect([released, dispatcher.stats()]).toEqual([[unasked.id, later.id], { waiting: 0, running: 0, committing: 0 }]);
});

async function endAll({ running, dispatcher }: Bench): Promise<void> {
  const stopped = dispatcher.stop();
  for (const { end } of running.splice(0)) end();
  await stopped;
}

test('a tenant runs no more at the same time than its account and its component may', async () => {
  const bench = startDispatcher(async () => ({ maxRunsPerAccount: 5, maxRunsPerComponent: 3 }));
  bench.dispatcher.take([...invocations('o_a', 10, 'dc_1'), ...invocations('o_a', 10, 'dc_2')]);
  await expect.poll(() => bench.running.length).toBe(5);
  const bySource = Map.groupBy(bench.running, ({ invocation }) => invocation.sourceId);
  expect([...bySource.values()].map((runs) => runs.length).toSorted((a, b) => a - b)).toEqual([2, 3]);
  bench.running[0]?.end();
  await expect.poll(() => bench.started.length).toBe(6);
  expect(bench.running).toHaveLength(5);
  await endAll(bench);
});

test('each tenant has limits of its own', async () => {
  const bench = startDispatcher(async (id) => ({ maxRunsPerAccount: id === 'o_a' ? 1 : 4 }));
  bench.dispatcher.take([...invocations('o_a', 10), ...invocations('o_b', 10)]);
  await expect.poll(() => bench.running.length).toBe(5);
  expect(bench.running.filter(({ invocation }) => invocation.accountId === 'o_a')).toHaveLength(1);
  await endAll(bench);
});

test('the runs of a tenant wait until its limits are known, also after a failed read', async () => {
  let reads = 0;
  const bench = startDispatcher(async () => {
    reads++;
    if (reads === 1) throw new Error('no database');
    return { maxRunsPerAccount: 1 };
  });
  bench.dispatcher.take(invocations('o_a', 3));
  expect(bench.started).toEqual([]);
  await expect.poll(() => bench.started.length).toBe(1);
  expect(reads).toBe(2);
  await endAll(bench);
});

test('a tenant that fills its part of the room leaves as much to others, and they to more others', () => {
  const { dispatcher } = startDispatcher(async () => ({}));
  const fill = (accountId: string) => {
    for (let room = dispatcher.capacity(accountId); room > 0; room = dispatcher.capacity(accountId))
      dispatcher.take(invocations(accountId, Math.min(room, 100)));
  };
  fill('o_a');
  expect(dispatcher.stats().waiting).toBe(LIMITS.maxHeldInvocations / 2);
  for (const accountId of ['o_b', 'o_c', 'o_d']) {
    expect(dispatcher.capacity(accountId)).toBeGreaterThan(100);
    fill(accountId);
  }
  expect(dispatcher.capacity('o_e')).toBeGreaterThan(100);
  expect(dispatcher.stats().waiting).toBeLessThan(LIMITS.maxHeldInvocations);
  void dispatcher.stop();
});

test('a tenant with huge events leaves half of the memory for events to others', () => {
  const { dispatcher } = startDispatcher(async () => ({}));
  const event = 'x'.repeat(1024 * 1024);
  while (dispatcher.capacity('o_a') > 0) dispatcher.take(invocations('o_a', 1, 'dc_1', event));
  expect(dispatcher.stats().waiting * event.length).toBeLessThanOrEqual(
    LIMITS.maxHeldInvocationBytes / 2 + event.length,
  );
  expect(dispatcher.capacity('o_b')).toBeGreaterThan(0);
  void dispatcher.stop();
});

test('behind the full backlog of one tenant, another starts at once while it runs nothing', async () => {
  const bench = startDispatcher(async () => ({ maxRunsPerAccount: 4 }));
  bench.dispatcher.take(invocations('o_a', 1_900));
  await expect.poll(() => bench.running.length).toBe(4);
  const [quiet] = invocations('o_b', 1);
  if (quiet !== undefined) bench.dispatcher.take([quiet]);
  await expect.poll(() => bench.started).toContain(quiet?.id);
  expect(bench.started).toHaveLength(5);
  await endAll(bench);
});

test('an invocation whose run cannot be committed is given back after a pause, one that waits when the node stops', async () => {
  const released: string[] = [];
  const releasePauseMs = 200;
  let failedAtMs = 0;
  const dispatcher = createDispatcher({
    limits: createLimitsCache({ read: async () => ({ maxRunsPerAccount: 1 }) }),
    log: testLog,
    releasePauseMs,
    release: async (given) => void released.push(...given.map(({ id }) => id)),
    run: async (invocation) => {
      if (invocation.id === 'broken') {
        failedAtMs = performance.now();
        throw new Error('not to be committed');
      }
      await dispatcher.stop();
    },
  });
  const [broken, ...rest] = invocations('o_a', 3);
  dispatcher.take([{ ...broken!, id: 'broken' }]);
  await expect.poll(() => released).toEqual(['broken']);
  expect(performance.now() - failedAtMs).toBeGreaterThan(releasePauseMs - 20);
  dispatcher.take(rest);
  await expect.poll(() => released).toEqual(['broken', rest[1]!.id]);
});

test('a tenant whose commits wait starts nothing until they are through; others go on', async () => {
  const behind = new Set(['o_a']);
  const bench = startDispatcher(
    async () => ({}),
    (accountId) => behind.has(accountId),
  );
  bench.dispatcher.take([...invocations('o_a', 2), ...invocations('o_b', 1)]);
  await expect.poll(() => bench.started).toHaveLength(1);
  expect(bench.running.map(({ invocation }) => invocation.accountId)).toEqual(['o_b']);
  behind.clear();
  bench.dispatcher.startMore();
  expect(bench.started).toHaveLength(3);
  await endAll(bench);
});
