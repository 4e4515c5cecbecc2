import { expect, test } from 'vitest';
import { cliWorld, ORDERS_SOURCE } from '../support/cli-world.ts';
import { eventually } from '../support/eventually.ts';

const world = cliWorld({ shared: true });

test('hw stats counts what happened, and hw receiver shows what was delivered and that it is signed', async () => {
  await world.write('orders.mjs', ORDERS_SOURCE);
  const source = await world.user.json('deploy', 'orders.mjs', '--name', 'orders');
  const url = (await world.user.hw(['receiver', 'url'])).stdout.trim();
  const webhook = await world.user.json('webhooks', 'create', url, '--name', 'try');
  await world.hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhook.id });
  await world.user.hw(['run', 'orders']);
  await eventually(async () => (await world.hw.api('GET', '/stats')).data.totals.delivered === 1, {
    timeoutMs: 60_000,
  });
  expect(await world.user.json('stats', 'try')).toMatchObject({ totals: { received: 0, delivered: 1 } });
  expect(await world.user.json('stats', 'orders', '--step', '3600')).toMatchObject({
    step: 3600,
    totals: { received: 1, emitted: 1, runs_ok: 1, delivered: 1 },
  });
  // Away from a terminal a bucket is a line, and the last one is the sum. What happened lies in two
  // buckets if a minute began meanwhile.
  const { stdout } = await world.user.hw(['stats']);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'));
  const [, ...sums] = lines.at(-1) ?? [];
  expect(lines.at(-1)).toEqual(['in all', '1', '1', '0', '1', '1', '0', '0']);
  const buckets = lines.slice(0, -1);
  expect(sums.map((_sum, n) => String(buckets.reduce((sum, bucket) => sum + Number(bucket[n + 1]), 0)))).toEqual(sums);
  const nonsense = await world.user.hw(['stats', '--step', '90']);
  expect([nonsense.code === 0, nonsense.stderr]).toEqual([false, expect.stringContaining('whole minutes')]);
  const [request] = await world.user.json('receiver', 'requests', '-n', '1');
  expect(request).toMatchObject({ webhook_id: webhook.id, verified: true });
  expect((await world.user.hw(['receiver', 'requests'])).stdout).toContain('\tverified\t');
  await world.user.hw(['receiver', 'clear']);
  expect(await world.user.json('receiver', 'requests')).toEqual([]);
});
