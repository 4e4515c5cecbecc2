import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Principal } from '../../../engine/src/contract/engine.ts';
import { claimUpload } from '../../../engine/src/outbox/sends/claim-sends.sql.ts';
import { releaseDeadNodes } from '../../../engine/src/cluster/nodes.sql.ts';
import { hasSignature } from '../../support/aws-signature.ts';
import { eventually } from '../../support/eventually.ts';
import { type ObjectServer, S3_CREDENTIALS, startObjectServer } from '../../support/object-server.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createSendWorld, type SendNode, type SendWorld } from '../../support/send-world.ts';

let world: SendWorld;
let server: ObjectServer;
let who: Principal;
let node: SendNode;

beforeEach(async () => {
  world = await createSendWorld();
  server = await startObjectServer();
  who = await world.account();
  node = await world.node();
});
afterEach(async () => {
  await world.stop();
  await server.stop();
});

const settings = () => ({ endpoint: server.url, region: 'us-east-1', ...S3_CREDENTIALS });
const sql = () => world.database.db.sql;
/** Sent two minutes ago: its minute is over. */
const before = () => ({ nowMs: Date.now() - 120_000 });
const lines = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, n) => ({ bucket: 'lines', prefix: 'logs', payload: { n }, ...more }));
const KEY = /^logs\/(\d{4})\/(\d\d)\/(\d\d)\/(\d\d)\/\1-\2-\3-\4-\d\d-\d\d-snd_\w{20}\.gz$/;

test('lines sent within a minute go into one object, in order, under a key of their time', async () => {
  await node.sends.setS3(who, settings());
  const ids = await world.send(who, 's3', lines(5), before());
  await node.runner.runLane(who);
  const rows = await Promise.all(ids.map((id) => world.ended(id)));
  expect(rows).toMatchObject(ids.map(() => ({ status: 'delivered', attempts: [{ status_code: 200 }] })));
  const keys = await server.keys('lines');
  expect(keys).toEqual([expect.stringMatching(KEY)]);
  expect(new Set(rows.map(({ object_key }) => object_key))).toEqual(new Set(keys));
  expect(await server.lines('lines', keys[0] ?? '')).toEqual([0, 1, 2, 3, 4].map((n) => ({ n })));
});

test('nothing is uploaded before its minute is over, and a job stands for that moment', async () => {
  await node.sends.setS3(who, settings());
  const [id = ''] = await world.send(who, 's3', lines(1), { nowMs: Date.now() + 60_000 });
  await node.runner.runLane(who);
  const row = await world.row(id);
  expect(row).toMatchObject({ status: 'pending', attempt_count: 0, object_key: null, leased_by: null });
  const [job] = await sql()<{ run_in: number }[]>`
    select extract(epoch from run_at - now())::float8 as run_in from graphile_worker.jobs where key like 'send:%'`;
  expect(Math.abs((job?.run_in ?? 0) - row.due_in_seconds)).toBeLessThan(1);
  expect(row.due_in_seconds).toBeGreaterThan(55);
  expect(row.due_in_seconds).toBeLessThanOrEqual(120);
});

test('each prefix has an object of its own; slashes at its ends do not count, and none is needed', async () => {
  await node.sends.setS3(who, settings());
  const payloads = [{ prefix: '/a/b/' }, { prefix: 'a/b' }, { prefix: undefined }].flatMap((more) => lines(1, more));
  const ids = await world.send(who, 's3', payloads, before());
  await node.runner.runLane(who);
  for (const id of ids) await world.ended(id);
  const keys = await server.keys('lines');
  expect(keys).toHaveLength(2);
  expect(keys.filter((key) => key.startsWith('a/b/2'))).toHaveLength(1);
  expect(keys.filter((key) => /^2\d{3}\//.test(key))).toHaveLength(1);
});

test('an upload that is repeated after a crash replaces the same object: no line is there twice', async () => {
  await node.sends.setS3(who, settings());
  const ids = await world.send(who, 's3', lines(3), before());
  await node.runner.runLane(who);
  for (const id of ids) await world.ended(id);
  // As a node leaves it that dies between the upload and its record.
  await sql()`update sends set status = 'pending', attempts = '[]', attempt_count = 0, leased_by = 'node_dead'`;
  const more = await world.send(who, 's3', lines(2), before());
  await releaseDeadNodes(sql(), { deadAfterMs: 10_000, exceptId: 'node_test' });
  await node.runner.runLane(who);
  for (const id of [...ids, ...more]) expect(await world.ended(id)).toMatchObject({ status: 'delivered' });
  const keys = await server.keys('lines');
  expect(keys).toHaveLength(2);
  const all = await Promise.all(keys.map((key) => server.lines('lines', key)));
  expect(all.map(({ length }) => length).toSorted((a, b) => a - b)).toEqual([2, 3]);
});

test('a missing bucket and wrong credentials are told and tried again, and mended by their owner', async () => {
  await node.sends.setS3(who, { ...settings(), accessKeyId: 'NOBODY' });
  const [id = ''] = await world.send(who, 's3', lines(1), before());
  const [lost = ''] = await world.send(who, 's3', lines(1, { bucket: 'elsewhere' }), before());
  await node.runner.runLane(who);
  expect(await world.ended(id, 1)).toMatchObject({ status: 'pending', attempts: [{ status_code: 403 }] });
  await world.ended(lost, 1);
  await node.sends.setS3(who, settings());
  await sql()`update sends set next_attempt_at = now()`;
  await node.runner.runLane(who);
  expect(await world.ended(id)).toMatchObject({ status: 'delivered', attempt_count: 2 });
  const row = await world.ended(lost, 2);
  expect(row.attempts[1]).toMatchObject({ status_code: 404, error: expect.stringContaining('NoSuchBucket') });
});

test('the request carries the signature that the server has to expect of it', async () => {
  const receiver = await startReceiver();
  try {
    const secretAccessKey = 'wJalr/XUtnFEMI+K7MDENG';
    await node.sends.setS3(who, { ...settings(), endpoint: `${receiver.url}/base`, secretAccessKey });
    const [id = ''] = await world.send(who, 's3', lines(2, { prefix: 'a b/ü+(1)' }), before());
    await node.runner.runLane(who);
    const row = await world.ended(id);
    expect(row.status).toBe('delivered');
    const [request] = receiver.requests;
    expect(request).toMatchObject({ method: 'PUT', headers: { 'content-type': 'application/gzip' } });
    expect(decodeURIComponent(request?.url.split('?')[0] ?? '')).toBe(`/base/lines/${row.object_key}`);
    expect(gunzipSync(request?.bytes ?? '').toString()).toBe('{"n":0}\n{"n":1}\n');
    const signedWith = (secret: string) => request !== undefined && hasSignature(request, secret);
    expect([signedWith(secretAccessKey), signedWith('another')]).toEqual([true, false]);
  } finally {
    await receiver.stop();
  }
});

test('two nodes that claim at the same time never take parts of one upload', async () => {
  await world.send(who, 's3', lines(50), before());
  const claims = await Promise.all(
    ['node_a', 'node_b', 'node_c'].map((id) => claimUpload(sql(), id, who.accountId, Date.now())),
  );
  const [upload, ...others] = claims.flat();
  expect(others).toEqual([]);
  expect(upload?.contents).toHaveLength(50);
  const rows = await sql()<{ unit_id: string; leased_by: string }[]>`select distinct unit_id, leased_by from sends`;
  expect(rows).toMatchObject([{ unit_id: upload?.id }]);
});

test('an object holds at most 5 000 lines; more go into the next', async () => {
  await node.sends.setS3(who, settings());
  await world.send(who, 's3', lines(5_003), before());
  await node.runner.runLane(who);
  await eventually(async () => (await sql()`select id from sends where status <> 'delivered'`).length === 0);
  const keys = await server.keys('lines');
  const counts = await Promise.all(keys.map(async (key) => (await server.lines('lines', key)).length));
  expect(counts.toSorted((a, b) => a - b)).toEqual([3, 5_000]);
});

test('without settings it has failed, and names them', async () => {
  const [id = ''] = await world.send(who, 's3', lines(1), before());
  await node.runner.runLane(who);
  const row = await world.ended(id);
  expect(row).toMatchObject({ status: 'failed', attempts: [{ error: expect.stringContaining('PUT /v1/sends/s3') }] });
});

test.each([
  ['no bucket', { bucket: undefined }],
  ['a bucket that is an address', { bucket: 'a/../b' }],
  ['a prefix that leads out', { prefix: 'a/../../b' }],
  ['a prefix with a line break', { prefix: 'a\r\nb' }],
  ['a prefix without end', { prefix: 'a'.repeat(513) }],
])('%s has failed at once, with a reason, and cannot be tried again', async (_, more) => {
  const [id = ''] = await world.send(who, 's3', lines(1, more), before());
  expect(await world.row(id)).toMatchObject({
    status: 'failed',
    attempts: [{ error: expect.stringMatching(/^(bucket|prefix) must/) }],
  });
  await expect(node.sends.retry(who, id)).rejects.toMatchObject({ code: 'CONFLICT' });
});

test('a line that has failed is sent again with the next object', async () => {
  const [id = ''] = await world.send(who, 's3', lines(1), before());
  await node.runner.runLane(who);
  await world.ended(id);
  await node.sends.setS3(who, settings());
  expect(await node.sends.retry(who, id)).toMatchObject({ id, status: 'pending', attempts: [{}] });
  await sql()`update sends set next_attempt_at = now()`;
  await node.runner.runLane(who);
  expect(await world.ended(id)).toMatchObject({ status: 'delivered' });
});

test('the secret is sealed and never shown, and other mistakes in settings are named', async () => {
  const shown = await node.sends.setS3(who, { ...settings(), secretAccessKey: 'a-very-secret-key' });
  expect(shown).toEqual({
    endpoint: server.url,
    region: 'us-east-1',
    accessKeyId: 'S3RVER',
    updatedAt: expect.any(Date),
  });
  const [row] = await sql()<{ secret: string }[]>`select secret_access_key as secret from s3_settings`;
  expect(row?.secret).toMatch(/^v2\./);
  expect(world.sealer.open(who.accountId, row?.secret ?? '')).toBe('a-very-secret-key');
  await expect(
    node.sends.setS3(who, { endpoint: 'ftp://x', region: 'EU 1', accessKeyId: 'a\n', secretAccessKey: '' }),
  ).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    fields: ['endpoint', 'region', 'access_key_id', 'secret_access_key'].map((path) => ({ path })),
  });
  // To read such a host takes the thread for milliseconds.
  await expect(
    node.sends.setS3(who, { ...settings(), endpoint: `https://${'中'.repeat(600)}/` }),
  ).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    fields: [{ path: 'endpoint', message: 'must not name a host of more than 512 characters' }],
  });
  await node.sends.deleteS3(who);
  await expect(node.sends.s3Settings(who)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('an endpoint inside is neither set nor reached', async () => {
  const closed = await world.node({ id: 'node_closed', allow: [] });
  await expect(closed.sends.setS3(who, settings())).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  await node.sends.setS3(who, settings());
  const [id = ''] = await world.send(who, 's3', lines(1), before());
  await closed.runner.runLane(who);
  expect((await world.ended(id, 1)).attempts[0]?.error).toContain('not a public address');
});
