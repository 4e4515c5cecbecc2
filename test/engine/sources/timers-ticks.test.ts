import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { TimerSchedule } from '../../../engine/src/schedule/next-tick.ts';
import { endSourceChange } from '../../../engine/src/sources/change-source.sql.ts';
import { deleteSourceRows } from '../../../engine/src/sources/delete-source.sql.ts';
import { fireTimers } from '../../../engine/src/sources/fire-timers.sql.ts';
import { requeueOverdueTimers } from '../../../engine/src/cluster/requeue.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { insertAccount, insertSource, leaseSource } from '../../support/source-rows.ts';

let test: TestDatabase;
let accountId: string;
let sourceId: string;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

beforeEach(async () => {
  accountId = await insertAccount(test.db.sql);
  sourceId = await insertSource(test.db.sql, accountId);
});

interface QueuedTick {
  sourceId: string;
  propName: string;
  generation: number;
  dueAtMs: number;
}

/** As the end of a deployment or change does. */
async function set(schedule: TimerSchedule | undefined): Promise<void> {
  const lease = await leaseSource(test.db.sql, accountId, sourceId);
  const timers = schedule === undefined ? [] : [{ name: 'timer', schedule }];
  await endSourceChange(test.db.sql, lease, { httpProps: [], timers });
}

async function queued(): Promise<QueuedTick[]> {
  const rows = await test.db.sql<{ payload: string; run_at_ms: number }[]>`
    select payload::text, extract(epoch from run_at)::float8 * 1000 as run_at_ms from graphile_worker._private_jobs
    where key = ${`timer:${sourceId}:timer`}`;
  return rows.map(({ payload, run_at_ms: runAtMs }) => {
    const tick = JSON.parse(payload) as QueuedTick;
    expect(runAtMs).toBeCloseTo(tick.dueAtMs, 0);
    return tick;
  });
}

async function nextTick(): Promise<QueuedTick> {
  const [tick, ...more] = await queued();
  expect(more).toEqual([]);
  return tick as QueuedTick;
}

const fire = (ticks: readonly QueuedTick[], nodeId = 'node_a', capacity = 1_000) =>
  fireTimers(test.db.sql, ticks, { nodeId, capacity: () => capacity, isFull: () => false, priorityAt: () => 0 });

const invocations = () => test.db.sql<{ id: string; event: string; leased_by: string | null; timer_prop: string }[]>`
  select id, event, leased_by, timer_prop from invocations where source_id = ${sourceId}`;

const endRuns = () => test.db.sql`delete from invocations where source_id = ${sourceId}`;

/** Moves the timer into the past, as if the node had been down since. */
async function setBack(ms: number): Promise<QueuedTick> {
  const tick = await nextTick();
  const dueAtMs = tick.dueAtMs - ms;
  await test.db.sql`
    update timers set anchor_at = anchor_at - make_interval(secs => ${ms / 1000}::float8), due_ms = ${dueAtMs}
    where source_id = ${sourceId}`;
  return { ...tick, dueAtMs };
}

it('a timer that is set is a job of the same commit, due one interval from now', async () => {
  const beforeMs = Date.now();
  await set({ intervalSeconds: 60 });
  const { dueAtMs } = await nextTick();
  expect(dueAtMs - beforeMs).toBeGreaterThan(59_000);
  expect(dueAtMs - Date.now()).toBeLessThan(61_000);
});

it('a tick makes a run with its due time and the job of the next tick, on the same phase even if late', async () => {
  await set({ intervalSeconds: 60 });
  const late = await setBack(60_000 + 7_300);
  const [fired] = await fire([late]);
  expect(fired).toMatchObject({ kind: 'held', invocation: { sourceId, kind: 'timer', leasedBy: 'node_a' } });
  const [row] = await invocations();
  const event = JSON.parse(row?.event ?? '') as { timestamp: number; interval_seconds: number };
  expect(event).toEqual({ timestamp: Math.floor(late.dueAtMs / 1_000), interval_seconds: 60 });
  const next = await nextTick();
  expect((next.dueAtMs - late.dueAtMs) % 60_000).toBe(0);
  expect(next.dueAtMs).toBeGreaterThan(Date.now());
});

it('a tick that comes twice at once is one run', async () => {
  await set({ intervalSeconds: 1 });
  const tick = await setBack(1_000);
  expect(await fire([tick, { ...tick }])).toMatchObject([{ kind: 'held' }, { kind: 'stale' }]);
  expect(await invocations()).toHaveLength(1);
});

it('a tick that comes twice at once and cannot be read fails twice, and its timer stays due', async () => {
  await set({ intervalSeconds: 60 });
  const tick = await setBack(61_000);
  await test.db.sql`
    update timers set interval_seconds = null, cron = '* * * * *', timezone = 'Mars/Olympus' where source_id = ${sourceId}`;
  expect(await fire([tick, { ...tick }])).toMatchObject([{ kind: 'failed' }, { kind: 'failed' }]);
  const [row] = await test.db.sql<{ due_ms: number }[]>`select due_ms from timers where source_id = ${sourceId}`;
  expect(row?.due_ms).toBe(tick.dueAtMs);
});

it('after a downtime of many intervals there is one tick, not one for each that was missed', async () => {
  await set({ intervalSeconds: 1 });
  await fire([await setBack(3_600_000)]);
  expect(await invocations()).toHaveLength(1);
  expect((await nextTick()).dueAtMs).toBeGreaterThan(Date.now() - 1_500);
});

it('no two ticks of a timer are due at the same time, though its phase has microseconds and due times have not', async () => {
  await set({ intervalSeconds: 1 });
  const { generation } = await nextTick();
  for (const microseconds of [0, 400, 500, 600]) {
    await test.db.sql`
      update timers set anchor_at = date_trunc('second', now()) - make_interval(secs => 90 - ${microseconds}::float8 / 1e6)
      where source_id = ${sourceId}`;
    const [row] = await test.db.sql<{ due_ms: number }[]>`
      update timers set due_ms = round(extract(epoch from anchor_at) * 1000 + 100000)::int8 where source_id = ${sourceId}
      returning due_ms`;
    const tick = { sourceId, propName: 'timer', generation, dueAtMs: row?.due_ms ?? 0 };
    expect(await fire([tick])).toMatchObject([{ kind: 'held' }]);
    await endRuns();
    const [next] = await test.db.sql<{ due_ms: number }[]>`select due_ms from timers where source_id = ${sourceId}`;
    expect(next?.due_ms).toBe(tick.dueAtMs + 1_000);
  }
});

it('a timer whose tick is overdue and has lost its job gets another, and one that has its job does not', async () => {
  await set({ intervalSeconds: 60 });
  const late = await setBack(120_000);
  const [before] = await jobIds();
  await requeueOverdueTimers(test.db.sql, 30_000);
  expect(await jobIds()).toEqual([before]);
  // As graphile-worker leaves one that has failed too often.
  await test.db.sql`update graphile_worker._private_jobs set attempts = max_attempts`;
  await requeueOverdueTimers(test.db.sql, 30_000);
  expect(await nextTick()).toEqual(late);
  await test.db.sql`delete from graphile_worker._private_jobs`;
  await requeueOverdueTimers(test.db.sql, 30_000);
  expect(await nextTick()).toEqual(late);
  expect(await fire([late])).toMatchObject([{ kind: 'held' }]);
});

const jobIds = async () =>
  (
    await test.db.sql<{ id: string }[]>`
    select id from graphile_worker._private_jobs where key = ${`timer:${sourceId}:timer`}`
  ).map(({ id }) => id);

it('a tick of a timer whose last run has not ended is passed over, and the timer goes on', async () => {
  await set({ intervalSeconds: 60 });
  await fire([await setBack(61_000)]);
  const second = await setBack(60_000);
  expect(await fire([second])).toEqual([{ kind: 'passed-over' }]);
  expect(await invocations()).toHaveLength(1);
  await endRuns();
  expect(await fire([await setBack(60_000)])).toMatchObject([{ kind: 'held' }]);
});

it('a tick that two nodes fire at once, or one node twice, is fired once', async () => {
  await set({ intervalSeconds: 60 });
  const tick = await setBack(61_000);
  const [a, b] = await Promise.all([fire([tick], 'node_a'), fire([tick], 'node_b')]);
  expect(new Set([a?.[0]?.kind, b?.[0]?.kind])).toEqual(new Set(['held', 'stale']));
  await endRuns();
  expect(await fire([tick])).toEqual([{ kind: 'stale' }]);
  expect(await invocations()).toEqual([]);
});

it('a node without room leaves the run to any node', async () => {
  await set({ intervalSeconds: 60 });
  expect(await fire([await setBack(61_000)], 'node_a', 0)).toMatchObject([{ kind: 'queued' }]);
  expect(await invocations()).toMatchObject([{ leased_by: null }]);
  const lanes = await test.db.sql`select 1 from graphile_worker._private_jobs where key = ${`run:${sourceId}`}`;
  expect(lanes).toHaveLength(1);
});

it('the same schedule set again keeps its phase, another one starts anew and the old tick does nothing', async () => {
  await set({ intervalSeconds: 60 });
  const first = await setBack(20_000);
  await set({ intervalSeconds: 60 });
  const { anchor } = await timerRow();
  await set({ intervalSeconds: 60 });
  expect((await timerRow()).anchor).toBe(anchor);

  await set({ intervalSeconds: 3_600 });
  const changed = await nextTick();
  expect(changed.dueAtMs - Date.now()).toBeGreaterThan(3_590_000);
  expect(await fire([first])).toEqual([{ kind: 'stale' }]);

  await set({ cron: '0 0 1 1 *', timezone: 'Asia/Tokyo' });
  expect(new Date((await nextTick()).dueAtMs).toISOString()).toMatch(/-12-31T15:00:00\.000Z$/);
  await set({ cron: '0 0 1 1 *', timezone: 'America/New_York' });
  expect(new Date((await nextTick()).dueAtMs).toISOString()).toMatch(/-01-01T05:00:00\.000Z$/);
});

async function timerRow(): Promise<{ anchor: string }> {
  const [row] = await test.db.sql<{ anchor: string }[]>`
    select anchor_at::text as anchor from timers where source_id = ${sourceId}`;
  return row as { anchor: string };
}

it('a timer that is stopped leaves neither a job nor a tick that waits; set again it starts from then', async () => {
  await set({ intervalSeconds: 60 });
  const tick = await setBack(61_000);
  await fire([tick], 'node_a', 0);
  await set(undefined);
  expect([await queued(), await invocations()]).toEqual([[], []]);
  expect(await fire([tick])).toEqual([{ kind: 'stale' }]);
  await set({ intervalSeconds: 60 });
  expect((await nextTick()).dueAtMs - Date.now()).toBeGreaterThan(55_000);
});

it('a deleted source leaves no job of a timer behind', async () => {
  await set({ intervalSeconds: 60 });
  const tick = await setBack(61_000);
  await deleteSourceRows(test.db.sql, await leaseSource(test.db.sql, accountId, sourceId));
  expect(await queued()).toEqual([]);
  expect(await fire([tick])).toEqual([{ kind: 'stale' }]);
});

it('a schedule that cannot be read fails alone', async () => {
  await set({ intervalSeconds: 60 });
  const good = await setBack(61_000);
  const bad = { ...good, propName: 'broken' };
  await test.db.sql`
    insert into timers (source_id, prop_name, account_id, cron, timezone, generation)
    values (${sourceId}, 'broken', ${accountId}, '* * * * *', 'Mars/Olympus', ${bad.generation})`;
  expect(await fire([bad, good])).toMatchObject([{ kind: 'failed' }, { kind: 'held' }]);
  expect((await invocations()).map((row) => row.timer_prop)).toEqual(['timer']);
});
