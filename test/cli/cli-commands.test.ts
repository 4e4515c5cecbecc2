import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { cliWorld, ORDERS_SOURCE } from '../support/cli-world.ts';
import { APP_TREE } from '../support/component-folder.ts';
import { eventually } from '../support/eventually.ts';
import { startReceiver } from '../support/receiver.ts';

const world = cliWorld({ shared: true });

const ACTION = `export default {
  name: "Double", key: "double", version: "0.1.0", type: "action", props: { number: { type: "integer" } },
  run({ $ }) { $.export("$summary", "done"); return { doubled: this.number * 2 }; },
};`;

const post = (url: string, body: unknown) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

describe('sources', () => {
  beforeAll(() => world.write('orders.mjs', ORDERS_SOURCE));

  test('deploy answers the source with its endpoint, and list and describe know it by slug and by id', async () => {
    const deployed = await world.user.hw(['deploy', 'orders.mjs', '--name', 'First orders']);
    expect(deployed).toMatchObject({ code: 0, stderr: '' });
    const [, id = '', endpoint = ''] =
      /^Deployed first-orders \((dc_\w{20})\)\nEndpoint: (http:\S+)\n/.exec(deployed.stdout) ?? [];
    expect(id).toMatch(/^dc_/);
    expect((await fetch(endpoint)).status).toBe(200);
    for (const name of [id, 'first-orders', 'First orders']) {
      expect(await world.user.json('describe', name)).toMatchObject({ id, name_slug: 'first-orders', active: true });
    }
    expect((await world.user.json('list')).map((source: { id: string }) => source.id)).toContain(id);
    expect((await world.user.hw(['ls', 's'])).stdout).toMatch(new RegExp(`^first-orders\t${id}\tactive\t`, 'm'));
    const text = await world.user.hw(['describe', 'first-orders']);
    expect(text.stdout).toContain(endpoint);
  });

  test('values of --prop are text where the prop is text, and JSON elsewhere; --props comes from a file', async () => {
    await world.write('props.json', JSON.stringify({ note: 'from the file', currency: 'overruled' }));
    await world.write('currency.txt', 'CHF');
    const args = ['--props', 'props.json', '--prop', 'currency=@currency.txt', '--prop', 'limit=7'];
    const source = await world.user.json('deploy', 'orders.mjs', '--name', 'props', ...args);
    expect(source.configured_props).toMatchObject({ note: 'from the file', currency: 'CHF', limit: 7 });
    const updated = await world.user.json('update', 'props', '--prop', 'note=42', '--prop', 'limit=null');
    expect(updated.configured_props).toMatchObject({ note: '42', currency: 'CHF' });
    expect(updated.configured_props.limit).toBeUndefined();
  });

  test('update changes code and name, stops and starts', async () => {
    await world.user.hw(['deploy', 'orders.mjs', '--name', 'changing']);
    await world.write('orders-2.mjs', ORDERS_SOURCE.replace('0.1.0', '0.2.0'));
    const before = await world.user.json('describe', 'changing');
    const stopped = await world.user.json(
      'update',
      'changing',
      '--code',
      'orders-2.mjs',
      '--name',
      'Changed',
      '--deactivate',
    );
    expect(stopped).toMatchObject({ id: before.id, name: 'Changed', active: false });
    expect(stopped.component_id).not.toBe(before.component_id);
    expect(await world.user.json('update', before.id, '--activate')).toMatchObject({ active: true });
    expect(await world.user.hw(['update', before.id])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Nothing to change'),
    });
    expect((await world.user.hw(['update', before.id, '--activate', '--deactivate'])).code).toBe(2);
    await world.user.hw(['update', before.id, '--deactivate']);
    const { code, stderr } = await world.user.hw(['run', 'Changed']);
    expect([code, stderr]).toEqual([1, 'error: Changed is stopped\n  → Start it: hw update Changed --activate\n']);
  });

  test('run takes an event from a file and from standard input; events and logs show what came of it', async () => {
    await world.user.hw(['deploy', 'orders.mjs', '--name', 'runs']);
    await world.write('event.json', JSON.stringify({ body: { total: 1 } }));
    expect(await world.user.json('run', 'runs', '--event', 'event.json')).toEqual({
      invocation_id: expect.stringMatching(/^inv_/),
    });
    const piped = await world.user.hw(['run', 'runs', '--event', '-'], { stdin: '{"body":{"total":2}}' });
    expect(piped).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Runs as inv_/) });
    await world.user.hw(['run', 'runs', '--event', '-'], { stdin: '{"body":{"fail":true}}' });
    await world.hw.untilIdle();
    const events = await world.user.hw(['events', 'runs', '--json']);
    const totals = events.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).event.body.total);
    expect(totals.toSorted((a: number, b: number) => a - b)).toEqual([1, 2]);
    const last = await world.user.hw(['events', 'runs', '-n', '1']);
    expect(last.stdout).toMatch(/^\d{4}-[^\t]+Z\t\d+-\d+\t\tAn order\t\{"body":\{"total":[12]\}.*\}\n$/);
    const logs = await world.user.hw(['logs', 'runs']);
    expect(logs.stdout).toMatch(/info {2}got \{ total: 1 \}/);
    expect(logs.stdout).toMatch(/error COMPONENT_ERROR .*ouch/);
    expect((await world.user.hw(['events', 'runs', '--channel', '$errors', '--json'])).stdout).toContain('ouch');
    expect((await world.user.hw(['run', 'runs', '--event', '-'], { stdin: '{' })).code).toBe(2);
  });

  test('delete needs no question away from a terminal, and then there is nothing of that name', async () => {
    await world.user.hw(['deploy', 'orders.mjs', '--name', 'short lived']);
    expect(await world.user.hw(['delete', 'short-lived'])).toMatchObject({ code: 0 });
    expect(await world.user.hw(['describe', 'short-lived'])).toMatchObject({ code: 4 });
  });
});

describe('components', () => {
  test('publish, deploy by key with a version, list, unpublish', async () => {
    await world.write('published.mjs', ORDERS_SOURCE.replaceAll('"orders"', '"published-orders"'));
    const published = await world.user.json('publish', 'published.mjs');
    expect(published).toMatchObject({ key: 'published-orders', version: '0.1.0', published_at: expect.any(Number) });
    const source = await world.user.json(
      'deploy',
      'published-orders@0.1.0',
      '--name',
      'by key',
      '--prop',
      'currency=USD',
    );
    expect(source.configured_props).toMatchObject({ currency: 'USD' });
    expect((await world.user.hw(['list', 'components'])).stdout).toMatch(
      /^published-orders\t0\.1\.0\tsource\tOrders\tsc_\w+\tpublished$/m,
    );
    for (const word of ['published-orders', 'published-orders@0.1.0', published.id]) {
      expect(await world.user.json('describe', word)).toMatchObject({ id: published.id });
    }
    expect((await world.user.hw(['describe', 'published-orders@0.2.0'])).code).toBe(4);
    expect(await world.user.json('unpublish', 'published-orders')).toMatchObject({ published_at: null });
    expect((await world.user.hw(['unpublish', 'published-nothing'])).code).toBe(4);
    expect(await world.user.hw(['delete', 'published-orders'])).toMatchObject({ code: 1 });
    await world.user.json('delete', 'by-key');
    expect(await world.user.json('delete', 'published-orders@0.1.0')).toEqual({
      id: 'published-orders@0.1.0',
      deleted: true,
    });
    expect((await world.user.hw(['delete', 'published-orders'])).code).toBe(4);
  });

  test('components of the registry are listed, described and deployed by key', async () => {
    const listed = await world.user.json('list', 'registry');
    expect(listed.map((component: { key: string }) => component.key)).toContain('schedule-timer');
    expect(await world.user.json('describe', 'schedule-timer')).toMatchObject({
      key: 'schedule-timer',
      type: 'source',
    });
    expect(await world.user.json('deploy', 'http-request-bin', '--name', 'bin')).toMatchObject({ name_slug: 'bin' });
  });

  test('a file without a key is not published, and one that is an action is not deployed: both say what to do', async () => {
    await world.write('keyless.mjs', ORDERS_SOURCE.replace('key: "orders", ', ''));
    const keyless = await world.user.hw(['publish', 'keyless.mjs']);
    expect(keyless).toMatchObject({ code: 6, stderr: expect.stringContaining('has no key') });
    await world.write('double.mjs', ACTION);
    const action = await world.user.hw(['deploy', 'double.mjs']);
    expect(action).toMatchObject({ code: 1, stderr: expect.stringContaining('hw publish double.mjs') });
  });

  test('a folder of apps is imported, and those that cannot be are named with the reason', async () => {
    const folder = path.join(world.user.workDir, 'apps');
    const files = Object.entries(APP_TREE).filter(([name]) => !name.endsWith('package.json'));
    for (const [name, text] of files) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
      await writeFile(path.join(folder, name), text);
    }
    const result = await world.user.hw(['registry', 'import', 'apps', '--scope', 'draft', '--json']);
    const report = JSON.parse(result.stdout);
    expect(result.code).toBe(6);
    expect(report).toMatchObject({ succeeded: 3, failed: report.total - 3 });
    const text = await world.user.hw(['registry', 'import', 'apps', '--scope', 'draft']);
    expect(text.stdout).toMatch(/^failed {2}weather\/sources\/broken\/broken\.mjs {2}.*gone/m);
    expect(text.stdout).toContain(`3 of ${report.total} components were imported.`);
    expect(await world.user.hw(['registry', 'import', 'nowhere'])).toMatchObject({ code: 2 });
  });
});

test('webhooks and subscriptions: made, listed, described, heard and deleted by name', async () => {
  const inbox = await startReceiver();
  try {
    await world.write('orders.mjs', ORDERS_SOURCE);
    const source = await world.user.json('deploy', 'orders.mjs', '--name', 'heard');
    const made = await world.user.hw(['webhooks', 'create', `${inbox.url}/`, '--name', 'Shop', '--format', 'envelope']);
    expect(made.stdout).toMatch(/^Made the webhook wh_\w{20}\nSecret: whsec_\S+\n$/);
    expect(await world.user.json('webhooks', 'describe', 'shop')).toMatchObject({ name: 'Shop', format: 'envelope' });
    expect((await world.user.hw(['list', 'wh'])).stdout).toMatch(/^Shop\twh_\w+\t/m);
    const subscription = await world.user.json('subscriptions', 'create', 'heard', 'Shop');
    expect(subscription).toMatchObject({ emitter_id: source.id, event_name: '' });
    await post(source.configured_props.http.endpoint_url, { total: 3 });
    const [delivery] = await inbox.until(1);
    expect(JSON.parse(delivery!.body)).toMatchObject({ data: { body: { total: 3 } } });
    const [sent] = await eventually(async () => {
      const rows = await world.user.json('webhooks', 'deliveries', 'shop');
      return rows[0]?.status === 'delivered' && rows;
    });
    expect((await world.user.hw(['webhooks', 'deliveries', 'Shop', '-n', '1'])).stdout).toContain(
      `${sent.id}\t${sent.event_id}\tdelivered\t1\t200\t`,
    );
    expect(await world.user.json('webhooks', 'deliveries', '--status', 'delivered')).toEqual([sent]);
    const event = ['--event', `${source.id}-${sent.event_id}`];
    expect(await world.user.json('webhooks', 'deliveries', 'shop', ...event, '--since', '2026-01-01')).toEqual([sent]);
    expect(
      await world.user.json('webhooks', 'deliveries', '--error-class', 'timeout', '--until', '2026-01-01'),
    ).toEqual([]);
    expect(await world.user.hw(['webhooks', 'deliveries', '--status', 'lost'])).toMatchObject({ code: 1 });
    expect(await world.user.json('webhooks', 'delivery', sent.id)).toEqual(sent);
    expect((await world.user.hw(['webhooks', 'delivery', sent.id])).stdout).toContain(`${sent.id}: delivered\n`);
    const dryRun = await world.user.hw(['webhooks', 'redeliver', 'shop', '--error-class', 'timeout', '--dry-run']);
    expect(dryRun.stdout).toBe('0 deliveries would be due again.\n');
    expect(await world.user.json('webhooks', 'redeliver', 'shop')).toEqual({ count: 0 });
    expect((await world.user.hw(['webhooks', 'redeliver', 'shop', sent.id])).stdout).toBe('1 delivery is due again.\n');
    const [first, again] = await inbox.until(2);
    expect(again!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
    expect(await world.user.hw(['webhooks', 'redeliver', 'shop', 'dlv_00000000000000000000'])).toMatchObject({
      code: 4,
    });
    expect((await world.user.hw(['subs', 'ls'])).stdout).toContain(subscription.id);
    expect(await world.user.json('subscriptions', 'delete', subscription.id)).toMatchObject({ deleted: true });
    expect(await world.user.json('subscriptions', 'list')).toEqual([]);
    expect(await world.user.hw(['subscriptions', 'delete', subscription.id])).toMatchObject({ code: 4 });
    await world.user.json('subscriptions', 'create', 'heard', 'shop', '--channel', '$errors');
    expect(await world.user.json('subscriptions', 'delete', 'heard', 'shop', '--channel', '$errors')).toMatchObject({
      event_name: '$errors',
    });
    for (const [status, code] of [
      [200, 0],
      [500, 1],
    ] as const) {
      inbox.answer = { status };
      expect((await world.user.hw(['webhooks', 'test', 'shop'])).code).toBe(code);
    }
    expect(await world.user.json('webhooks', 'delete', 'shop')).toMatchObject({ deleted: true });
    expect(await world.user.json('webhooks', 'list')).toEqual([]);
  } finally {
    await inbox.stop();
  }
});

test('workflows: made from a file with code beside it, run, looked at, changed and deleted', async () => {
  await world.write('double.mjs', ACTION);
  const workflow = {
    name: 'Doubling',
    triggers: [{ type: 'http' }],
    steps: [{ namespace: 'double', component_file: 'double.mjs', props: { number: '{{steps.trigger.event.number}}' } }],
  };
  await world.write('doubling.json', JSON.stringify(workflow));
  const made = await world.user.json('workflows', 'create', 'doubling.json');
  expect(made).toMatchObject({
    id: expect.stringMatching(/^p_/),
    name_slug: 'doubling',
    steps: [{ namespace: 'double' }],
  });
  expect((await world.user.json('list', 'workflows')).map((one: { id: string }) => one.id)).toEqual([made.id]);
  await world.write('number.json', '{"number":21}');
  const { execution_id: id } = await world.user.json('run', 'doubling', '--event', 'number.json');
  const execution = await eventually(async () => {
    const found = await world.user.json('describe', id);
    return found.status === 'succeeded' && found;
  });
  expect(execution.steps.double.$return_value).toEqual({ doubled: 42 });
  expect((await world.user.hw(['describe', id])).stdout).toContain('{"doubled":42}');
  const ran = await world.user.hw(['workflows', 'executions', 'doubling', '--status', 'succeeded']);
  expect(ran.stdout).toMatch(new RegExp(`^${id}\tsucceeded\t`));
  await world.write('doubling.json', JSON.stringify({ ...workflow, settings: { concurrency: 1 } }));
  expect(await world.user.json('wf', 'update', 'doubling', 'doubling.json')).toMatchObject({
    id: made.id,
    settings: { concurrency: 1 },
  });
  expect(await world.user.json('update', 'doubling', '--deactivate')).toMatchObject({ active: false });
  expect(await world.user.hw(['update', 'doubling', '--prop', 'a=1'])).toMatchObject({ code: 2 });
  expect((await world.user.hw(['workflows', 'describe', 'doubling'])).stdout).toContain('double');
  const stopped = await world.user.hw(['workflows', 'run', 'doubling', '--event', 'number.json']);
  expect(stopped.stderr).toContain('hw update doubling --activate');
  await world.user.hw(['update', 'doubling', '--activate']);
  const again = await world.user.json('workflows', 'run', 'doubling', '--event', 'number.json');
  expect(again).toEqual({ execution_id: expect.stringMatching(/^exec_/) });
  expect(await world.user.json('workflows', 'delete', 'doubling', '--yes')).toMatchObject({ deleted: true });
  expect(await world.user.json('workflows', 'list')).toEqual([]);
});

test('environment variables: set from the word and from standard input, listed without values, deleted', async () => {
  expect(await world.user.hw(['env', 'set', 'REGION=eu', '--description', 'Where'])).toMatchObject({ code: 0 });
  expect(await world.user.hw(['env', 'set', 'TOKEN'], { stdin: 'hush-hush-hush\n' })).toMatchObject({ code: 0 });
  const listed = await world.user.hw(['env', 'list', '--json']);
  expect(JSON.parse(listed.stdout).map((one: { name: string }) => one.name)).toEqual(['REGION', 'TOKEN']);
  expect(listed.stdout).not.toContain('hush');
  expect(await world.user.json('env', 'delete', 'TOKEN')).toEqual({ name: 'TOKEN', deleted: true });
  expect(await world.user.hw(['env', 'delete', 'TOKEN'])).toMatchObject({ code: 4 });
  expect(await world.user.hw(['env', 'set', 'NOT-A-NAME=1'])).toMatchObject({ code: 1 });
  expect(await world.user.hw(['env', 'set', 'NOTHING'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('NOTHING='),
  });
  expect(await world.user.hw(['env', 'set', 'NOTHING='])).toMatchObject({ code: 0 });
});

test('connected accounts are listed', async () => {
  const made = await world.hw.api('POST', '/connected_accounts', {
    app: 'stripe',
    name: 'Shop',
    credentials: { api_key: 'sk_live_1234567' },
  });
  const { stdout } = await world.user.hw(['list', 'accounts']);
  expect(stdout).toMatch(new RegExp(`^stripe\tShop\t${made.data.id}\t`));
  expect(stdout).not.toContain('sk_live');
});

test('--quiet prints the id of what was made, and nothing else', async () => {
  await world.write('orders.mjs', ORDERS_SOURCE);
  const { code, stdout, stderr } = await world.user.hw(['deploy', 'orders.mjs', '--name', 'quiet', '-q']);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^dc_\w{20}\n$/);
  expect(await world.user.hw(['delete', 'quiet', '--quiet'])).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('a file of the documentation that is deployed by its header still is', async () => {
  const example = await readFile(new URL('../../examples/http-request-bin.mjs', import.meta.url), 'utf8');
  await world.write('bin.mjs', example);
  expect(await world.user.json('deploy', 'bin.mjs', '--name', 'example')).toMatchObject({ name_slug: 'example' });
});

test('a list that is longer than a page is whole, and a name at its end is found', async () => {
  const first = await world.hw.api('POST', '/webhooks', {
    url: 'https://example.com/first',
    name: 'The first of many',
  });
  const urls = Array.from({ length: 230 }, (_, at) => `https://example.com/${at}`);
  await Promise.all(urls.map((url) => world.hw.api('POST', '/webhooks', { url })));
  const listed = (await world.user.json('list', 'webhooks')) as { id: string }[];
  expect(new Set(listed.map(({ id }) => id)).size).toBe(231);
  expect(await world.user.json('describe', 'the-first-of-many')).toMatchObject({ id: first.data.id });
});
