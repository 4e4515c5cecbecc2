import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Principal } from '../../../engine/src/contract/engine.ts';
import { fixedKeys } from '../../../engine/src/secrets/master-key.ts';
import { rotateKeys } from '../../../engine/src/secrets/rotate-keys.ts';
import { createRedactor } from '../../../engine/src/secrets/redactor.ts';
import { createSealer } from '../../../engine/src/secrets/seal.ts';
import { contentOf } from '../../../engine/src/outbox/sends/new-send.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { createSendWorld, type SendWorld } from '../../support/send-world.ts';
import { startTunnelProxy } from '../../support/tunnel-proxy.ts';

const TOKEN = 'sk_live_0123456789';
const secrets = [{ name: 'token', value: TOKEN }];

let world: SendWorld;
let receiver: Receiver;
let who: Principal;

beforeEach(async () => {
  world = await createSendWorld();
  receiver = await startReceiver();
  who = await world.account();
});
afterEach(async () => {
  await receiver.stop();
  await world.stop();
});

const request = () => ({ url: receiver.url, headers: { authorization: `Bearer ${TOKEN}` }, data: { key: TOKEN } });
const wholeTable = async () => JSON.stringify(await world.database.db.sql`select to_json(s)::text from sends s`);

test('a secret arrives as it is, and is readable nowhere in the database, before nor after', async () => {
  const [id = ''] = await world.send(who, 'http', [request()], { secrets });
  expect((await world.row(id)).sealed).toMatch(/^v2\./);
  expect(await wholeTable()).not.toContain(TOKEN);
  const { runner } = await world.node();
  await runner.runLane(who);
  const row = await world.ended(id);
  expect(receiver.requests[0]).toMatchObject({
    headers: { authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({ key: TOKEN }),
  });
  expect(row).toMatchObject({ status: 'delivered', sealed: null });
  expect(JSON.parse(row.payload)).toMatchObject({ data: { key: '[secret:token]' } });
  expect(await wholeTable()).not.toContain(TOKEN);
});

test('a receiver that repeats a request brings no secret into the attempts', async () => {
  receiver.answer = ({ headers, body }) => ({ status: 400, body: `${headers.authorization} ${body}` });
  const [id = ''] = await world.send(who, 'http', [request()], { secrets });
  const { runner } = await world.node();
  await runner.runLane(who);
  expect(await world.ended(id)).toMatchObject({ status: 'failed', attempts: [{ status_code: 400 }] });
  expect(await wholeTable()).not.toContain(TOKEN);
});

test('a host that is a secret is not told in an error', async () => {
  const host = 'q1w2e3r4t5.invalid';
  const [id = ''] = await world.send(
    who,
    'http',
    [{ url: `http://${host}/`, data: { url: 'http://other.invalid/' } }],
    {
      secrets: [{ name: 'host', value: host }],
    },
  );
  const { runner } = await world.node();
  await runner.runLane(who);
  const row = await world.ended(id, 1);
  expect(row.attempts).toMatchObject([{ error: 'The receiver has no address and port that are reached from here' }]);
  expect(JSON.stringify(row)).not.toContain(host);
});

test('a host that is a secret is not told where the proxy of this server refuses it', async () => {
  const host = 'q1w2e3r4t5.test';
  const proxy = await startTunnelProxy({ status: 502 });
  try {
    const [id = ''] = await world.send(who, 'http', [{ url: `http://${host}/` }], {
      secrets: [{ name: 'host', value: host }],
    });
    const { runner } = await world.node({
      egress: {
        proxy: `http://127.0.0.1:${proxy.port}`,
        resolver: (_, done) => done(null, [{ address: '93.184.215.14', family: 4 }]),
      },
    });
    await runner.runLane(who);
    const row = await world.ended(id, 1);
    expect(proxy.asked).toHaveLength(1);
    expect(row.attempts).toMatchObject([{ error: 'The proxy of this server could not connect to the receiver' }]);
    expect(await wholeTable()).not.toContain(host);
  } finally {
    await proxy.stop();
  }
});

test.each([
  ['as the method', { method: `Bearer ${TOKEN}` }, 'The method cannot be requested'],
  ['in a header name that is one', { headers: { [TOKEN]: 'a\n\u0001' } }, 'The value of a header holds characters'],
  ['in a header name that is none', { headers: { [`Bearer ${TOKEN}`]: 'x' } }, 'A header has an invalid name'],
  ['as the name of a header that is an object', { headers: { [TOKEN]: { a: 1 } } }, 'A header must be a string'],
])('a secret %s is not in the error about it', async (_, wrong, error) => {
  const [id = ''] = await world.send(who, 'http', [{ url: receiver.url, ...wrong }], { secrets });
  const { runner } = await world.node();
  await runner.runLane(who);
  const row = await world.ended(id);
  expect(row).toMatchObject({ status: 'failed', attempts: [{ error: expect.stringContaining(error) }] });
  expect((await wholeTable()).toLowerCase()).not.toContain(TOKEN);
});

test.each([
  ['the host of a redirect', 'http://sk-live-0123456789.invalid/', 'no address and port'],
  ['the scheme of a redirect', 'sk-live-0123456789:x', 'why is not told'],
])('a receiver that repeats a secret as %s brings it into no error', async (_, location, error) => {
  receiver.answer = { status: 302, headers: { location } };
  const spellings = [...secrets, { name: 'other', value: 'sk-live-0123456789' }];
  const [id = ''] = await world.send(who, 'http', [request()], { secrets: spellings });
  const { runner } = await world.node();
  await runner.runLane(who);
  const { attempts } = await world.ended(id, 1);
  expect(attempts).toMatchObject([{ error: expect.stringContaining(error) }]);
  expect(await wholeTable()).not.toMatch(/sk.live.0123456789/);
});

test('the cause of a failed connection is named all the same: a limit, or the error', async () => {
  receiver.script({ hangUp: true }, { body: 'x'.repeat(3_000) });
  const { runner } = await world.node({ limits: { maxFetchResponseBytes: 2_500 } });
  const errors = [];
  for (let attempts = 1; attempts <= 2; attempts++) {
    const [id = ''] = await world.send(who, 'http', [request()], { secrets });
    await runner.runLane(who);
    errors.push((await world.ended(id, 1)).attempts[0]?.error);
  }
  expect(errors).toEqual([
    'The receiver closed the connection before the response was complete',
    'It went over maxFetchResponseBytes, which is 2500',
  ]);
});

test('secrets in e-mails and lines for S3 are sealed as well', async () => {
  await world.send(who, 'email', [{ subject: 'a', text: TOKEN }], { secrets });
  await world.send(who, 's3', [{ bucket: 'lines', payload: { TOKEN } }], { secrets });
  expect(await wholeTable()).not.toContain(TOKEN);
});

test('sealed contents of sends are sealed under a new key with everything else', async () => {
  const { sql } = world.database.db;
  const { sends } = await world.node();
  const [id = ''] = await world.send(who, 'http', [request()], { secrets });
  await sends.setS3(who, { region: 'eu-central-1', accessKeyId: 'AKIA', secretAccessKey: 's3-secret' });
  const old = [(await world.row(id)).sealed ?? ''];
  const next = { id: 'next', key: randomBytes(32) };
  const both = createSealer({ current: () => next, find: (key) => (key === next.id ? next : world.keys.find(key)) });
  expect(await rotateKeys({ sql, sealer: both })).toMatchObject({ rewrapped: 2, unopened: [], complete: true });
  const alone = createSealer(fixedKeys([next]));
  const sealed = (await world.row(id)).sealed ?? '';
  expect(old).not.toContain(sealed);
  expect(JSON.parse(alone.open(who.accountId, sealed))).toEqual(request());
  const [row] = await sql<{ secret: string }[]>`select secret_access_key as secret from s3_settings`;
  expect(alone.open(who.accountId, row?.secret ?? '')).toBe('s3-secret');
});

test('sealed contents in the row of a step are sealed under a new key too', async () => {
  const { sql } = world.database.db;
  const { accountId } = who;
  const stored: object[] = [];
  for (const text of [TOKEN, '"sealed":"no', 'harmless']) {
    const payload = JSON.stringify({ url: 'https://a.example/', text });
    const content = await contentOf(world.sealer, accountId, createRedactor(secrets), payload);
    stored.push({ kind: 'http', ...content });
  }
  await sql`
    insert into execution_steps (execution_id, position, account_id, deployment_id, namespace, status, runs, exports, logs,
      sends, started_at, ended_at)
    values ('exec_1', 2, ${accountId}, 'd_1', 'a', 'done', 1, '{}', '[]', ${JSON.stringify(stored)}, now(), now())`;
  const next = { id: 'next', key: randomBytes(32) };
  const both = createSealer({ current: () => next, find: (key) => (key === next.id ? next : world.keys.find(key)) });
  expect(await rotateKeys({ sql, sealer: both })).toMatchObject({ rewrapped: 1, unopened: [], complete: true });
  const [row] = await sql<{ sends: string }[]>`select sends from execution_steps`;
  const [first, ...others] = JSON.parse(row?.sends ?? '') as { sealed: string }[];
  expect(JSON.parse(createSealer(fixedKeys([next])).open(accountId, first?.sealed ?? ''))).toMatchObject({
    text: TOKEN,
  });
  expect(others).toEqual(stored.slice(1));
});

test('a sealed text that another account’s row was given does not open', async () => {
  const { sql } = world.database.db;
  const other = await world.account();
  const [mine = ''] = await world.send(who, 'http', [request()], { secrets });
  const [theirs = ''] = await world.send(other, 'http', [{ url: receiver.url }]);
  await sql`update sends set sealed = (select sealed from sends where id = ${mine}) where id = ${theirs}`;
  const { runner } = await world.node();
  await runner.runLane(other);
  const row = await world.ended(theirs, 1);
  expect(row.attempts).toMatchObject([{ error: expect.stringContaining('could not be sent') }]);
  expect(receiver.requests).toEqual([]);
});
