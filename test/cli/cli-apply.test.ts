import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseStack } from '../../cli/src/stack/stack-file.ts';
import { cliWorld, ORDERS_SOURCE } from '../support/cli-world.ts';

const world = cliWorld({ shared: true });

const STEP = `export default { name: "Note", version: "0.1.0", type: "action",
  props: { text: "string", store: { type: "data_store", optional: true }, token: { type: "string", secret: true, optional: true } },
  run() { return this.text; } };`;

const SECRET_SOURCE = `export default { name: "Secretive", version: "0.1.0",
  props: { timer: "$.interface.timer", token: { type: "string", secret: true } }, run() {} };`;

const STACK = `
name: NAME
environment: [PREFIX_TOKEN]
data_stores:
  PREFIX-customers: { description: Who buys }
sources:
  PREFIX-orders:
    component: ./orders.mjs
    props: { currency: CHF, limit: 3 }
  PREFIX-poll:
    component: ./secretive.mjs
    props: { timer: { cron: "0 3 * * *", timezone: Europe/Zurich }, token: { $env: POLL_TOKEN } }
  PREFIX-inbox: { ingest: true }
workflows:
  PREFIX-bill:
    triggers:
      - { type: http, custom_response: false }
      - { source: PREFIX-orders }
    steps:
      - { namespace: note, component: ./note.mjs, props: { text: "{{env.PREFIX_TOKEN}}", store: { $data_store: PREFIX-customers }, token: "Bearer {{env.PREFIX_TOKEN}}" } }
    settings: { retries: 2 }
webhooks:
  PREFIX-shop: { url: "http://127.0.0.1:2/", headers: { Authorization: { $env: SHOP_AUTH } }, timeout_seconds: 7 }
subscriptions:
  - { from: PREFIX-orders, to: PREFIX-shop, filter: { total: [{ ">": 10 }] } }
  - { from: PREFIX-bill, to: PREFIX-shop, channel: $errors }
`;

const SECRETS = { POLL_TOKEN: 'p0ll', SHOP_AUTH: 'Bearer shop' };

/** A folder with everything, under names of its own. */
async function folderOf(prefix: string, text = STACK) {
  const folder = path.join(world.user.workDir, prefix);
  await mkdir(folder, { recursive: true });
  const write = (name: string, content: string) => writeFile(path.join(folder, name), content);
  await write('orders.mjs', ORDERS_SOURCE);
  await write('note.mjs', STEP);
  await write('secretive.mjs', SECRET_SOURCE);
  const env = { ...SECRETS, [`${prefix}_TOKEN`]: 't0ken' };
  const put = (change: (content: string) => string = (content) => content) =>
    write('headwater.yaml', change(text.replaceAll('NAME', prefix).replaceAll('PREFIX', prefix)));
  await put();
  const hw = (...args: string[]) => world.user.hw(['apply', prefix, ...args], { env });
  return {
    write,
    put,
    env,
    hw,
    async apply(...args: string[]) {
      const { code, stdout, stderr } = await hw(...args, '--json');
      if (code !== 0 && code !== 2) throw new Error(`hw apply ended with ${code}: ${stderr}`);
      const { changes, applied } = JSON.parse(stdout) as { changes: Shown[]; applied: boolean };
      return {
        code,
        applied,
        changes: changes.map(({ action, kind, key, fields }) => [action, kind, key, ...(fields ?? [])].join(' ')),
      };
    },
  };
}

interface Shown {
  action: string;
  kind: string;
  key: string;
  fields?: string[];
}

describe('hw apply', () => {
  test('makes everything in the order of need, and the second time there is nothing to change', async () => {
    const { apply } = await folderOf('a');
    const planned = await apply('--plan');
    expect(planned).toMatchObject({ code: 2, applied: false });
    expect(planned.changes).toEqual([
      'create environment_variable a_TOKEN',
      'create data_store a-customers',
      'create source a-orders',
      'create source a-poll',
      'create source a-inbox',
      'create workflow a-bill',
      'create webhook a-shop',
      'create subscription a-orders → a-shop',
      'create subscription a-bill → a-shop ($errors)',
    ]);
    expect((await world.user.hw(['describe', 'a-orders'])).code).toBe(4);
    expect((await apply()).changes).toEqual(planned.changes);
    const source = await world.user.json('describe', 'a-orders');
    expect(source.configured_props).toMatchObject({ currency: 'CHF', limit: 3 });
    expect(await world.user.json('webhooks', 'describe', 'a-shop')).toMatchObject({
      headers: { authorization: 'Bearer shop' },
      timeout_seconds: 7,
    });
    const workflow = await world.user.json('describe', 'a-bill');
    expect(workflow).toMatchObject({ version: 1, settings: { retries: 2 } });
    expect(workflow.triggers[1]).toMatchObject({ source_id: source.id });
    expect(await apply('--plan')).toMatchObject({ code: 0, changes: [] });
    expect(await apply()).toMatchObject({ code: 0, changes: [] });
    expect(await world.user.json('describe', 'a-bill')).toMatchObject({ version: 1 });
  });

  test('changes what differs, says which fields, and sees other code, other secrets and what others have changed', async () => {
    const { apply, put, write, hw, env } = await folderOf('b');
    await apply();
    await put((text) =>
      text
        .replace('currency: CHF', 'currency: EUR')
        .replace('retries: 2', 'retries: 3')
        .replace('10 }', '20 }')
        .replace('Bearer {{', 'Token {{'),
    );
    await write('note.mjs', STEP.replace('0.1.0', '0.2.0'));
    env.SHOP_AUTH = 'Bearer other';
    await world.user.json('update', 'b-orders', '--prop', 'limit=4');
    const { changes } = await apply('--plan');
    expect(changes).toEqual([
      'update source b-orders props.currency props.limit',
      'update workflow b-bill steps.note.component settings.retries secrets',
      'update webhook b-shop secrets',
      'update subscription b-orders → b-shop filter',
    ]);
    const shown = await hw('--plan');
    expect(shown.stdout).toContain('~ update source b-orders: props.currency, props.limit\n');
    await apply();
    expect((await world.user.json('describe', 'b-orders')).configured_props).toMatchObject({
      currency: 'EUR',
      limit: 3,
    });
    expect((await world.user.json('webhooks', 'describe', 'b-shop')).headers).toEqual({
      authorization: 'Bearer other',
    });
    expect(await world.user.json('describe', 'b-bill')).toMatchObject({ version: 2 });
    expect(await apply('--plan')).toMatchObject({ code: 0, changes: [] });
    expect(await folderWithoutSecrets('b')).toMatchObject({ code: 0 });
  });

  /** A plan needs no secrets: a secret that is there is taken for the right one. */
  const folderWithoutSecrets = (prefix: string) => world.user.hw(['apply', prefix, '--plan']);

  test('prune deletes what the folder has made and no longer names, and nothing else', async () => {
    const { apply, put, hw } = await folderOf('c');
    await apply();
    await world.user.json('deploy', '--ingest', 'c-by-hand');
    await put((text) => text.replace(/\n {2}c-poll:[^]*?(?=\n {2}c-inbox)/, '').replace(/webhooks:[^]*/, ''));
    const kept = await hw('--plan');
    expect(kept.code).toBe(0);
    expect(kept.stdout).toContain('--prune deletes them.');
    expect(await apply('--prune')).toMatchObject({
      changes: [
        'delete subscription c-orders → c-shop',
        'delete subscription c-bill → c-shop ($errors)',
        'delete webhook c-shop',
        'delete source c-poll',
      ],
    });
    const names = (await world.user.json('list')).map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['c-by-hand', 'c-orders', 'c-inbox']));
    expect(names).not.toContain('c-poll');
    expect(await apply('--prune', '--plan')).toMatchObject({ code: 0, changes: [] });
  });

  test('a source made by hand is changed as the file says, and never pruned unless it is adopted', async () => {
    const { apply, put, hw } = await folderOf(
      'd',
      'name: NAME\nsources:\n  PREFIX-one: { component: ./orders.mjs, props: { limit: 1 } }\n',
    );
    await world.write('d-one.mjs', ORDERS_SOURCE);
    await world.user.json('deploy', 'd-one.mjs', '--name', 'd-one');
    expect((await hw('--plan')).stdout).toBe('~ update source d-one: props.limit (not made from this folder)\n');
    await apply();
    await put(() => 'name: d\n');
    expect(await apply('--prune')).toMatchObject({ changes: [] });
    await put();
    await apply('--adopt');
    await put(() => 'name: d\n');
    expect(await apply('--prune')).toMatchObject({ changes: ['delete source d-one'] });
  });

  test('during an apply another one is refused, and a stopped apply goes on from its state', async () => {
    const { apply, write } = await folderOf('e');
    await world.hw.api('PUT', '/stacks/e', { holder: 'somebody', hold_seconds: 60 });
    expect(await world.user.hw(['apply', 'e'], { env: { ...SECRETS, e_TOKEN: 't' } })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('being applied by another holder'),
    });
    await world.hw.api('PUT', '/stacks/e', { holder: 'somebody' });
    await write('note.mjs', 'export default { broken');
    await expect(apply()).rejects.toThrow('ended with 6');
    await write('note.mjs', STEP.replace('run()', 'oops: 1, run: 5, rum()'));
    await expect(apply()).rejects.toThrow('ended with 6');
    await write('note.mjs', STEP);
    expect((await apply()).changes[0]).toBe('create workflow e-bill');
    expect(await apply('--plan')).toMatchObject({ code: 0 });
  });
});

describe('the file', () => {
  const problems = async (text: string) => {
    try {
      await parseStack(text, 'headwater.yaml', '.');
      return [];
    } catch (error) {
      return (error as { fields: { line: number; message: string }[] }).fields.map(
        ({ line, message }) => `${line}: ${message}`,
      );
    }
  };

  test('a mistake is reported with its line', async () => {
    expect(await problems('sources:\n  a: { ingest: true }\n  a: { ingest: true }\n')).toEqual([
      '3: Map keys must be unique at line 3, column 3:',
    ]);
    expect(await problems('sources:\n  a:\n    ingest: true\n    colour: red\nplanets: {}\n')).toEqual([
      expect.stringMatching(/^4: sources\.a\.colour is not known; there are component, /),
      expect.stringMatching(/^5: planets is not known; there are name, environment, /),
    ]);
    expect(await problems('sources:\n  a: {}\nworkflows:\n  b: { steps: [1] }\nwebhooks:\n  c: {}\n')).toEqual([
      '2: sources.a needs either component or ingest: true',
      '4: workflows.b.steps must be a list of mappings',
      '6: webhooks.c needs url',
    ]);
    expect(await problems('subscriptions:\n  - { from: a, to: b }\n  - { from: a, to: b }\n')).toEqual([
      '3: subscriptions.1 is there twice: a → b',
    ]);
    expect(await problems('{ "name": "shop", "sources": { "a": { "ingest": true } } }')).toEqual([]);
  });

  test('secrets in it, missing ones, and names of nothing are refused with their line, before anything is made', async () => {
    const text = `name: NAME
environment: [MISSING_ONE]
webhooks:
  PREFIX-open: { url: "http://127.0.0.1:2/", secret: whsec_abc }
subscriptions:
  - { from: PREFIX-nobody, to: PREFIX-open }
`;
    const { hw } = await folderOf('f', text);
    const { code, stderr } = await hw('--json');
    expect(code).toBe(1);
    const { error } = JSON.parse(stderr) as { error: { fields: { line: number; message: string }[] } };
    expect(error.fields.map(({ line, message }) => `${line}: ${message}`)).toEqual([
      '2: environment variable MISSING_ONE needs the environment variable MISSING_ONE',
      expect.stringMatching(/^4: webhook f-open has secret in the file; give it from the environment/),
      expect.stringMatching(/^6: subscription f-nobody → f-open names f-nobody, which is not there/),
    ]);
    expect((await world.user.json('webhooks', 'list')).map(({ name }: { name: string }) => name)).not.toContain(
      'f-open',
    );
  });
});

describe('hw export', () => {
  beforeAll(async () => {
    const { apply } = await folderOf('x');
    await apply();
  });

  test('the account as an emitter, and another signature, come back as they were', async () => {
    const folder = (signature: string) =>
      `name: own\nwebhooks:\n  own-notices: { url: "http://127.0.0.1:8099/x", signature: ${signature} }\n` +
      `subscriptions:\n  - { from: account, to: own-notices, channel: $webhooks }\n`;
    const write = async (signature: string) => {
      await mkdir(path.join(world.user.workDir, 'own'), { recursive: true });
      await writeFile(path.join(world.user.workDir, 'own', 'headwater.yaml'), folder(signature));
    };
    const shown = () => world.user.json('describe', 'own-notices');
    await write('v1');
    await world.user.json('apply', 'own');
    expect(await shown()).toMatchObject({ signature: 'v1' });
    await write('v1a');
    expect(await world.user.json('apply', 'own')).toMatchObject({
      changes: [{ kind: 'webhook', fields: ['signature'] }],
    });
    expect(await shown()).toMatchObject({ signature: 'v1a' });
    expect(await world.user.json('apply', 'own')).toMatchObject({ changes: [] });
    await world.user.json('export', 'own-again');
    const { parse } = await import('yaml');
    const text = await readFile(path.join(world.user.workDir, 'own-again', 'headwater.yaml'), 'utf8');
    const { webhooks, subscriptions } = parse(text);
    expect(webhooks['own-notices']).toMatchObject({ signature: 'v1a' });
    expect(subscriptions).toContainEqual({ from: 'account', to: 'own-notices', channel: '$webhooks' });
  });

  test('an export has the transforms of webhooks, and apply sets, changes and removes them', async () => {
    const slim = (said: string) =>
      `export default { name: 'Slim', version: '1', type: 'transform', run({ body }) { return { body: body + '${said}' }; } };`;
    const folder = path.join(world.user.workDir, 'slim');
    const put = async (rest: string) =>
      writeFile(
        path.join(folder, 'headwater.yaml'),
        `name: slim\nwebhooks:\n  slim-shop: { url: "http://127.0.0.1:8099/t"${rest} }\n`,
      );
    const applied = async (...args: string[]) => (await world.user.json('apply', 'slim', ...args)).changes;
    const code = async () => {
      const { transform_id: id } = await world.user.json('webhooks', 'describe', 'slim-shop');
      return id === null ? null : (await world.user.json('describe', id)).code;
    };
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'slim.mjs'), slim('a'));
    await put(', transform: ./slim.mjs');
    expect(await applied()).toMatchObject([{ action: 'create', kind: 'webhook' }]);
    expect(await code()).toBe(slim('a'));
    expect(await applied()).toEqual([]);
    await writeFile(path.join(folder, 'slim.mjs'), slim('b'));
    expect(await applied()).toMatchObject([{ action: 'update', kind: 'webhook', fields: ['transform'] }]);
    expect(await code()).toBe(slim('b'));

    const exported = await world.user.hw(['export', 'slim-again', '--json']);
    expect(exported).toMatchObject({ code: 0, stderr: '' });
    const { parse } = await import('yaml');
    const { webhooks } = parse(await readFile(path.join(world.user.workDir, 'slim-again', 'headwater.yaml'), 'utf8'));
    expect(webhooks['slim-shop']).toMatchObject({ transform: './transforms/slim-shop.mjs' });
    expect(await readFile(path.join(world.user.workDir, 'slim-again', 'transforms', 'slim-shop.mjs'), 'utf8')).toBe(
      slim('b'),
    );
    expect(await world.user.hw(['apply', 'slim-again', '--plan'])).toMatchObject({ code: 0 });

    await put('');
    expect(await applied()).toEqual([]);
    await put(', transform: null');
    expect(await applied()).toMatchObject([{ action: 'update', fields: ['transform'] }]);
    expect(await code()).toBeNull();
    await put(', transform: ./gone.mjs');
    expect(await world.user.hw(['apply', 'slim'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('gone.mjs'),
    });
  });

  test('an export names no secret, and applying it changes nothing', async () => {
    const exported = await world.user.json('export', 'out');
    expect(exported.files[0]).toBe('headwater.yaml');
    expect(exported.secrets).toEqual(expect.arrayContaining(['X_POLL_TOKEN', 'X_SHOP_AUTHORIZATION']));
    const text = await readFile(path.join(world.user.workDir, 'out', 'headwater.yaml'), 'utf8');
    for (const secret of [...Object.values(SECRETS), 't0ken']) expect(text).not.toContain(secret);
    const planned = await world.user.hw(['apply', 'out', '--plan']);
    expect(planned).toMatchObject({ code: 0, stdout: 'out: nothing to change.\n' });
    expect(await world.user.hw(['export', 'out'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--force'),
    });
  });
});
