import type { ComponentBundle } from '@headwater/sandbox-runtime';
import { expect, test } from 'vitest';
import { bundle, sandboxesOfTests } from '../support/sandbox-kit.ts';

const start = sandboxesOfTests();

/** Loading has no timers. */
const slowly = (ms: number) =>
  bundle(
    `const end = Date.now() + ${ms}; while (Date.now() < end); export default { name: 'N', version: '1', run() {} };`,
  );

test('components of one tenant that are saved at once are loaded one after the other, in its process', async () => {
  const sandbox = await start({ blankProcesses: 0 });
  const component = await slowly(100);
  let most = 0;
  const timer = setInterval(() => (most = Math.max(most, sandbox.stats().processes)), 5);
  const outcomes = await Promise.all(Array.from({ length: 6 }, () => sandbox.describe('o_a', component)));
  clearInterval(timer);
  expect([outcomes.filter(({ ok }) => ok).length, most]).toEqual([6, 1]);
});

test('others load meanwhile', async () => {
  const sandbox = await start();
  const [slow, quick] = [await slowly(1_000), await slowly(0)];
  const ended: string[] = [];
  const load = async (tenantId: string, component: ComponentBundle) => {
    expect((await sandbox.describe(tenantId, component)).ok).toBe(true);
    ended.push(tenantId);
  };
  await Promise.all([...Array.from({ length: 4 }, () => load('o_a', slow)), load('o_b', quick)]);
  expect(ended.indexOf('o_b')).toBeLessThan(3);
});

test('a load that waits too long, or exceeds the queue, is refused with the limit', async () => {
  const sandbox = await start({ maxLoadWaitMs: 400, maxQueuedPerTenant: 1 });
  const slow = await slowly(1_500);
  const first = sandbox.describe('o_a', slow);
  const second = sandbox.describe('o_a', slow).catch((error: unknown) => error);
  await expect(sandbox.describe('o_a', slow)).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    limit: { name: 'maxQueuedRunsPerTenant', value: 1, used: 2 },
  });
  const refused = await second;
  expect(refused).toMatchObject({ code: 'RATE_LIMITED', limit: { name: 'maxLoadWaitMs', value: 400 } });
  expect((refused as { limit: { used: number } }).limit.used).toBeGreaterThanOrEqual(400);
  expect(await first).toMatchObject({ ok: true });
});

test('at a stop, nothing that waits is waited for', async () => {
  const sandbox = await start();
  const slow = await slowly(1_500);
  const loads = Array.from({ length: 4 }, () => sandbox.describe('o_a', slow).catch((error: unknown) => error));
  await sandbox.stop();
  for (const load of await Promise.all(loads)) expect(load).toMatchObject({ code: 'UNAVAILABLE' });
});
