import { expect, test } from 'vitest';
import { newId } from '../../shared/src/index.ts';
import { cliWorld, ORDERS_SOURCE } from '../support/cli-world.ts';
import { eventually } from '../support/eventually.ts';

const world = cliWorld();

test('a change with an etag is refused if the resource changed since', async () => {
  await world.write('orders.mjs', ORDERS_SOURCE);
  const source = await world.user.json('deploy', 'orders.mjs', '--name', 'guarded');
  const webhook = await world.user.json('webhooks', 'create', 'https://shop.example.com/hook', '--name', 'shop');
  for (const [word, change] of [
    ['guarded', ['update', 'guarded', '--prop', 'currency=CHF']],
    ['shop', ['webhooks', 'update', 'shop', '--description', 'mine']],
  ] as const) {
    const { etag } = await world.user.json('describe', word);
    expect(etag).toMatch(/^\d+$/);
    expect((await world.user.hw(['describe', word])).stdout).toMatch(new RegExp(`etag\\W+${etag}\\n`));
    expect((await world.user.hw([...change, '--if-match', etag])).code).toBe(0);
    const refused = await world.user.hw([...change, '--if-match', `"${etag}"`]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('changed')]);
    expect((await world.user.hw(['delete', word, '--yes', '--if-match', etag])).code).toBe(1);
  }
  const nonsense = await world.user.hw(['update', 'guarded', '--deactivate', '--if-match', 'the newest']);
  expect([nonsense.code, nonsense.stderr]).toEqual([2, expect.stringContaining('--if-match takes an etag')]);
  expect((await world.hw.api('GET', `/sources/${source.id}`)).data).toMatchObject({ active: true });
  expect((await world.hw.api('GET', `/webhooks/${webhook.id}`)).data).toMatchObject({ description: 'mine' });
  const { etag } = await world.user.json('describe', 'shop');
  expect((await world.user.hw(['webhooks', 'delete', 'shop', '--yes', '--if-match', etag])).code).toBe(0);
});

test('records, filters and limits are changed only as they were read', async () => {
  const { user } = world;
  const store = await user.json('data-stores', 'create', 'Stock');
  const name = (row: { name: string }) => row.name;
  expect((await user.json('data-stores', 'list')).map(name)).toContain('Stock');
  await world.write('weir.json', '{"level":3}');
  expect(await user.json('data', 'set', 'Stock', 'weir', '@weir.json', '--if-absent')).toMatchObject({ key: 'weir' });
  expect((await user.hw(['data', 'set', 'Stock', 'weir', '4', '--if-absent'])).code).toBe(1);
  const { etag, value } = await user.json('data', 'get', 'Stock', 'weir');
  expect(value).toEqual({ level: 3 });
  expect((await user.hw(['data', 'set', store.id, 'weir', '5', '--if-match', etag, '--ttl', '60'])).code).toBe(0);
  const late = await user.hw(['data', 'set', store.id, 'weir', '6', '--if-match', etag]);
  expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('record weir was changed meanwhile')]);
  expect(await user.json('data', 'records', 'Stock', '--prefix', 'we')).toMatchObject([{ key: 'weir', value: 5 }]);
  expect((await user.hw(['data', 'delete', 'Stock', 'weir', '-y', '--if-match', etag])).code).toBe(1);
  expect((await user.hw(['data', 'delete', 'Stock', 'weir', '-y'])).code).toBe(0);
  expect(await user.json('data', 'delete', 'Stock', '-y')).toEqual({ id: store.id, key: null, deleted: true });
  expect((await user.hw(['data', 'records', 'Stock'])).stderr).toContain('No data store is called Stock');

  await world.write('orders.mjs', ORDERS_SOURCE);
  await user.json('deploy', 'orders.mjs', '--name', 'heard');
  await user.json('webhooks', 'create', 'https://shop.example.com/hook', '--name', 'hearer');
  const { id } = await user.json('subscriptions', 'create', 'heard', 'hearer');
  const shown = await user.json('subscriptions', 'show', id);
  const change = ['subscriptions', 'update', id, '--filter', '{"a":1}', '--if-match', shown.etag];
  expect((await user.hw(change)).code).toBe(0);
  expect((await user.hw(change)).code).toBe(1);
  expect((await user.hw(['subscriptions', 'show', id])).stdout).toContain('Filter: {"a":1}');

  const admin = { env: { HEADWATER_API_KEY: `hw_${'a'.repeat(32)}` } };
  const limits = async (...args: string[]) => user.hw(['tenants', 'limits', world.hw.accountId, ...args], admin);
  const read = JSON.parse((await limits('--json')).stdout);
  expect((await limits('maxSources=50', '--if-match', read.etag)).stdout).toMatch(/maxSources\s+50\s+\d+\s+yes/);
  expect((await limits('maxSources=60', '--if-match', read.etag)).stderr).toContain('changed meanwhile');
  expect((await limits('maxSources=default')).stdout).not.toMatch(/maxSources\s+50/);
  expect((await limits('maxSources=many')).stderr).toContain('sets no limit');
});

test('a version of a workflow is deployed only over the one that its author has seen', async () => {
  const file = JSON.stringify({
    name: 'Intake',
    steps: [{ namespace: 'a', component_code: 'export default { run() {} };' }],
  });
  await world.write('intake.json', file);
  await world.user.json('workflows', 'create', 'intake.json');
  const { etag } = await world.user.json('describe', 'intake');
  const update = ['workflows', 'update', 'intake', 'intake.json', '--if-match', etag];
  expect((await world.user.hw(update)).code).toBe(0);
  expect((await world.user.hw(update)).code).toBe(1);
  expect(await world.user.json('describe', 'intake')).toMatchObject({ version: 2 });
});

test('an operator sees nodes and what accounts do, others are refused; an account sees what waits', async () => {
  await world.write('orders.mjs', ORDERS_SOURCE);
  const source = await world.user.json('deploy', 'orders.mjs', '--name', 'busy');
  await world.user.hw(['run', 'busy']);
  const admin = { env: { HEADWATER_API_KEY: `hw_${'a'.repeat(32)}` } };
  const asAdmin = async (...args: string[]) => JSON.parse((await world.user.hw([...args, '--json'], admin)).stdout);
  expect(await asAdmin('server', 'nodes')).toMatchObject([{ role: 'all' }]);
  expect((await world.user.hw(['server', 'nodes'], admin)).stdout).toMatch(/^node_\S+\tall\t/);
  const active = await eventually(
    async () => {
      const { accounts } = await asAdmin('server', 'accounts', '--limit', '5');
      return accounts[0]?.totals.received > 0 && accounts;
    },
    { timeoutMs: 60_000 },
  );
  expect(active).toMatchObject([{ name: 'Default', totals: { received: 1, runs_ok: 1 } }]);
  expect((await world.user.hw(['server', 'accounts'], admin)).stdout).toContain('Default\t');
  for (const word of ['nodes', 'accounts']) expect((await world.user.hw(['server', word])).code).toBe(3);

  expect(await world.user.json('waiting')).toEqual({ run: null, delivery: null });
  // No node was notified of this run, so it waits until one searches for such runs.
  const run = await eventually(async () => {
    await world.hw.sql`
      insert into invocations (id, account_id, source_id, kind, event)
      values (${newId('invocation')}, ${world.hw.accountId}, ${source.id}, 'manual', '{}')`;
    return (await world.user.json('waiting')).run;
  });
  expect(run).toMatchObject({ emitter_id: source.id, name: 'busy' });
});
