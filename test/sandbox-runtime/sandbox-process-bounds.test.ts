import type { ComponentBundle } from '@headwater/sandbox-runtime';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { bundle, freshKey, runIn, sandboxesOfTests, soon, withRun } from '../support/sandbox-kit.ts';
import { sampleCases } from '../support/long-run.ts';

const start = sandboxesOfTests();

const say = withRun(`this.$emit('fine')`);
const wait = (ms: number): string => withRun(`await new Promise((r) => setTimeout(r, ${ms})); this.$emit('waited')`);

test('further processes of several tenants leave room for the first process of other tenants', async () => {
  const sandbox = await start({ maxProcesses: 8 });
  const component = await bundle(wait(20_000));
  const runs = ['o_1', 'o_2', 'o_3', 'o_4'].flatMap((tenantId) =>
    [false, true, true].map((alone) =>
      runIn(sandbox, component, { tenantId, isolateKey: freshKey(), alone, wallMs: 30_000 }),
    ),
  );
  await soon(() => sandbox.stats().runsInFlight).toBe(7);
  for (const tenantId of ['o_b', 'o_c']) {
    expect((await runIn(sandbox, say, { tenantId })).host.data()).toEqual(['fine']);
    expect(sandbox.stats().runsInFlight).toBe(7);
  }
  await sandbox.stop();
  await Promise.all(runs);
});

test('a tenant that has no process comes before those that want another', async () => {
  const sandbox = await start({ maxProcesses: 16, blankProcesses: 0 });
  const [long, short] = [await bundle(wait(20_000)), await bundle(say)];
  const busy = ['o_1', 'o_2', 'o_3'];
  const sleepers = busy.map((tenantId) => runIn(sandbox, long, { tenantId, wallMs: 30_000 }));
  await soon(() => sandbox.stats().runsInFlight).toBe(3);
  const ended: string[] = [];
  const runs = [...busy, 'o_new'].map(async (tenantId) => {
    await runIn(sandbox, short, { tenantId, alone: tenantId !== 'o_new' });
    ended.push(tenantId);
  });
  await Promise.all(runs);
  // Two boot at a time.
  expect(ended.slice(0, 2)).toContain('o_new');
  await sandbox.stop();
  await Promise.all(sleepers);
});

test('with two processes, a long run alone waits until its tenant needs its only one no more', async () => {
  const sandbox = await start({ maxProcesses: 2 });
  const [long, short] = [await bundle(wait(4_000)), await bundle(say)];
  const shared = runIn(sandbox, long, { tenantId: 'o_a' });
  await soon(() => sandbox.stats().runsInFlight).toBe(1);
  const alone = runIn(sandbox, short, { tenantId: 'o_a', alone: true, wallMs: 30_000 });
  expect((await runIn(sandbox, short, { tenantId: 'o_b' })).host.data()).toEqual(['fine']);
  expect(await Promise.race([alone, shared, Promise.resolve('wait')])).toBe('wait');
  expect((await alone).host.data()).toEqual(['fine']);
  expect((await shared).host.data()).toEqual(['waited']);
});

test.each(sampleCases([1, 2, 3, 8], 2))(
  'with %i processes, all of what several tenants ask for is run in the end',
  async (max) => {
    const sandbox = await start({ maxProcesses: max });
    const component = await bundle(wait(50));
    const runs = Array.from({ length: 12 }, (_, i) =>
      runIn(sandbox, component, {
        tenantId: `o_${i % 4}`,
        isolateKey: freshKey(),
        alone: i % 3 > 0,
        wallMs: i % 2 === 0 ? 5_000 : 30_000,
      }),
    );
    expect((await Promise.all(runs)).filter(({ outcome }) => !outcome.ok)).toEqual([]);
  },
);

test('a run that is to be alone does not wait for ever', async () => {
  const sandbox = await start({ maxProcesses: 1, blankProcesses: 0, maxAloneWaitMs: 400 });
  const other = runIn(sandbox, wait(20_000), { tenantId: 'o_b', wallMs: 30_000 });
  await soon(() => sandbox.stats().runsInFlight).toBe(1);
  const own = runIn(sandbox, say, { tenantId: 'o_a' });
  const { outcome } = await runIn(sandbox, say, { tenantId: 'o_a', alone: true });
  expect(outcome).toMatchObject({
    ok: false,
    innocent: false,
    fault: { code: 'UNAVAILABLE', limit: { name: 'maxAloneWaitMs', value: 400, used: expect.any(Number) } },
  });
  const { limit, message } = outcome.ok ? {} : outcome.fault;
  expect(limit?.used).toBeGreaterThan(400);
  expect(message).toBe(
    `The run is to be alone, and waited for a sandbox process for ${limit?.used} ms; the limit maxAloneWaitMs is 400 ms`,
  );
  // A task that need not be alone continues to wait.
  expect(await Promise.race([own, Promise.resolve('waits')])).toBe('waits');
  await sandbox.stop();
  await Promise.all([other, own]);
});

test('nor does a component that is to be loaded: it is refused, and not found at fault', async () => {
  const sandbox = await start({ maxProcesses: 1, blankProcesses: 0, maxLoadWaitMs: 400 });
  const other = runIn(sandbox, wait(20_000), { tenantId: 'o_b', wallMs: 30_000 });
  await soon(() => sandbox.stats().runsInFlight).toBe(1);
  await expect(sandbox.describe('o_a', await bundle(say))).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    limit: { name: 'maxLoadWaitMs', value: 400 },
  });
  await sandbox.stop();
  await other;
});

test.each(sampleCases([1, 2], 2))(
  'with %i processes, an old one goes on if its tenant may not have another',
  async (max) => {
    const sandbox = await start({ maxProcesses: max, recycleAfterRuns: 1 });
    const long = runIn(sandbox, wait(4_000));
    await soon(() => sandbox.stats().runsInFlight).toBe(1);
    // Its age is looked at four times a second.
    await sleep(600);
    expect((await runIn(sandbox, say)).host.data()).toEqual(['fine']);
    expect(await Promise.race([long, Promise.resolve('still there')])).toBe('still there');
    expect((await long).host.data()).toEqual(['waited']);
  },
);

test('one that is full goes on as well, where its tenant may not have another', async () => {
  const sandbox = await start({ maxProcesses: 1, maxRssMb: 500 });
  const fills = withRun(`const held = new Uint8Array(300 * 2 ** 20).fill(1);
    await new Promise((resolve) => setTimeout(resolve, 5_000)); this.$emit(held.length);`);
  const long = runIn(sandbox, fills, { memoryMb: 512, wallMs: 60_000 });
  await soon(() => sandbox.stats().runsInFlight).toBe(1);
  // How much it holds is looked at each second.
  await sleep(2_000);
  expect((await runIn(sandbox, say)).host.data()).toEqual(['fine']);
  expect(await Promise.race([long, Promise.resolve('still there')])).toBe('still there');
  expect((await long).host.data()).toEqual([300 * 2 ** 20]);
});

test('but not while another tenant waits that has none', async () => {
  const sandbox = await start({ maxProcesses: 1, blankProcesses: 0, recycleAfterRuns: 1 });
  const [long, short] = [await bundle(wait(2_000)), await bundle(say)];
  const first = runIn(sandbox, long, { tenantId: 'o_a' });
  await soon(() => sandbox.stats().runsInFlight).toBe(1);
  const ended: string[] = [];
  const run = async (tenantId: string, code: ComponentBundle): Promise<void> => {
    expect((await runIn(sandbox, code, { tenantId })).outcome.ok).toBe(true);
    ended.push(tenantId);
  };
  await Promise.all([first, run('o_b', short), run('o_a', short)]);
  expect(ended).toEqual(['o_b', 'o_a']);
});
