import { beforeAll, describe, expect, test } from 'vitest';
import { cliWorld, ORDERS_SOURCE } from '../support/cli-world.ts';

const world = cliWorld({ shared: true });

/** Counts in `activated` of its own store how often its hook has run. */
const HOOKED = `export default {
  name: "Hooked", version: "0.1.0",
  props: { http: "$.interface.http", db: "$.service.db", token: { type: "string", secret: true }, zone: "string" },
  hooks: { async activate() {
    const activated = (await this.db.get("activated") ?? 0) + 1;
    await this.db.set("activated", activated);
    this.$emit({ activated });
  } },
  run() {},
};`;

const activations = async (name: string) =>
  (await world.user.hw(['events', name, '--json'])).stdout.trim().split('\n').length;

beforeAll(async () => {
  await world.write('orders.mjs', ORDERS_SOURCE);
  await world.write('hooked.mjs', HOOKED);
});

describe('hw deploy of what is there', () => {
  test('the same code and props, secrets too, change nothing: no hook runs, and no component is saved', async () => {
    const args = ['hooked.mjs', '--name', 'ci', '--prop', 'token=s3cret', '--prop', 'zone=eu'];
    const first = await world.user.json('deploy', ...args);
    expect(first).toMatchObject({ outcome: 'created', name: 'ci' });
    const before = await world.user.json('describe', 'ci');
    const again = await world.user.json('deploy', ...args);
    expect(again).toMatchObject({ outcome: 'unchanged', id: first.id, component_id: first.component_id });
    expect((await world.user.json('describe', 'ci')).etag).toBe(before.etag);
    expect(await activations('ci')).toBe(1);
    const drafts = (await world.user.json('list', 'components')).filter(
      ({ name }: { name: string }) => name === 'Hooked',
    );
    expect(drafts).toHaveLength(1);
  });

  test('another secret, another value and other code update it, and it keeps its endpoint', async () => {
    const deploy = (...args: string[]) =>
      world.user.json('deploy', 'hooked.mjs', '--name', 'changing', '--prop', 'token=a', '--prop', 'zone=eu', ...args);
    const first = await deploy();
    expect(await deploy('--prop', 'token=b')).toMatchObject({ outcome: 'updated', id: first.id });
    expect(await deploy('--prop', 'token=b', '--prop', 'zone=us')).toMatchObject({
      outcome: 'updated',
      configured_props: { zone: 'us', http: first.configured_props.http },
    });
    await world.write('hooked.mjs', HOOKED.replace('0.1.0', '0.2.0'));
    expect(await deploy('--prop', 'token=b', '--prop', 'zone=us')).toMatchObject({ outcome: 'updated', id: first.id });
    await world.write('hooked.mjs', HOOKED);
    expect(await activations('changing')).toBe(4);
  });

  test('without a name it is the source of the same key and name; --new makes another', async () => {
    const first = await world.user.json('deploy', 'orders.mjs');
    expect(await world.user.json('deploy', 'orders.mjs')).toMatchObject({ outcome: 'unchanged', id: first.id });
    const text = await world.user.hw(['deploy', 'orders.mjs']);
    expect(text).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Nothing to change in orders (${first.id})`),
    });
    const other = await world.user.json('deploy', 'orders.mjs', '--new');
    expect(other).toMatchObject({ outcome: 'created', name_slug: 'orders-1' });
    expect(await world.user.hw(['deploy', 'orders.mjs'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('2 sources are called Orders'),
    });
    const named = await world.user.json('deploy', 'orders.mjs', '--name', 'orders-1', '--prop', 'currency=CHF');
    expect(named).toMatchObject({ outcome: 'updated', id: other.id, name: 'Orders' });
  });

  test('a source of another component is not taken over where no name is given', async () => {
    await world.write(
      'same-name.mjs',
      ORDERS_SOURCE.replace('key: "orders"', 'key: "other-orders"').replace('"Orders"', '"Taken"'),
    );
    await world.write('taken.mjs', ORDERS_SOURCE.replace('"Orders"', '"Taken"'));
    const first = await world.user.json('deploy', 'taken.mjs');
    expect(await world.user.json('deploy', 'same-name.mjs')).toMatchObject({ outcome: 'created', name: 'Taken' });
    expect(await world.user.json('describe', first.id)).toMatchObject({ component_id: first.component_id });
  });

  test('a stopped source stays stopped, and the answer says so', async () => {
    await world.user.json('deploy', 'orders.mjs', '--name', 'stopped');
    await world.user.json('update', 'stopped', '--deactivate');
    const { stdout } = await world.user.hw(['deploy', 'orders.mjs', '--name', 'stopped', '--prop', 'limit=3']);
    expect(stdout).toContain('It is stopped. Start it: hw update stopped --activate');
  });

  test('--ingest twice is one source, and no source with code is taken for it', async () => {
    const first = await world.user.json('deploy', '--ingest', 'inbox');
    expect(await world.user.json('deploy', '--ingest', 'inbox')).toMatchObject({ outcome: 'unchanged', id: first.id });
    await world.user.json('deploy', 'orders.mjs', '--name', 'coded');
    expect(await world.user.hw(['deploy', '--ingest', 'coded'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('coded is a source with code'),
    });
  });
});
