import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { LIMITS } from '@headwater/shared';
import type { Principal } from '../../../engine/src/contract/engine.ts';
import { createEgress } from '../../../engine/src/egress/egress.ts';
import { createDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts';
import { eventually } from '../../support/eventually.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

let world: DeliveryWorld;
let receiver: Receiver;
let who: Principal;

beforeAll(async () => {
  world = await createDeliveryWorld();
  who = await world.account();
});
afterAll(() => world.stop());
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.stop());

const settled = (webhookId: string) =>
  eventually(async () => {
    const rows = await world.rows(webhookId);
    return rows.every((row) => row.leased_by === null) && rows;
  });

test('a raw event arrives byte for byte, signed, with the headers that name it', async () => {
  const webhook = await world.webhook(who, { url: `${receiver.url}/hook?a=1` });
  const deliverer = world.deliverer({ node: 'node_a' });
  const data = '{"big":12345678901234567890,"text":"wörld \\u0000 \\ud83d","n":1.0}';
  const [due] = await world.emit(webhook, who, 1, 'node_a', { data });
  deliverer.take([due!]);
  const [request] = await receiver.until(1);
  expect(request).toMatchObject({ method: 'POST', url: '/hook?a=1', body: data });
  expect(request?.headers).toMatchObject({
    'content-type': 'application/json',
    'headwater-event-id': `${due?.indexedAtMs}-${due?.seq}`,
    'headwater-emitter-id': due?.emitterId,
    'headwater-attempt': '1',
    'webhook-id': `evt_${due?.emitterId.slice(3)}_${due?.indexedAtMs}_${due?.seq}`,
  });
  expect(request?.headers).not.toHaveProperty('headwater-channel');
  new Webhook(webhook.secret).verify(request!.body, request!.headers as Record<string, string>);
  const [row] = await settled(webhook.id);
  expect(row).toMatchObject({ status: 'delivered', attempt_count: 1, attempts: [{ status_code: 200 }] });
});

test('an envelope holds type, timestamp and the data digit for digit', async () => {
  const webhook = await world.webhook(who, { url: receiver.url, format: 'envelope' });
  const deliverer = world.deliverer({ node: 'node_a' });
  const data = '{"n":12345678901234567890}';
  deliverer.take(await world.emit(webhook, who, 1, 'node_a', { data, channel: 'orders/ü $x', ts: 0 }));
  const [named] = await receiver.until(1);
  expect(named?.body).toBe(`{"type":"orders/ü $x","timestamp":"1970-01-01T00:00:00.000Z","data":${data}}`);
  expect(named?.headers['headwater-channel']).toBe('orders%2F%C3%BC%20$x');
  new Webhook(webhook.secret).verify(named!.body, named!.headers as Record<string, string>);
  const [due] = await world.emit(webhook, who, 1, 'node_a', { data: 'null', ts: 9e15 });
  deliverer.take([due!]);
  const plain = (await receiver.until(2))[1];
  expect(JSON.parse(plain?.body ?? '')).toEqual({
    type: 'event.emitted',
    timestamp: new Date(due?.indexedAtMs ?? 0).toISOString(),
    data: null,
  });
});

test.each([
  [{ status: 204 }, 'delivered', { status_code: 204 }, null],
  [{ status: 299, body: 'ok' }, 'delivered', { status_code: 299, response: 'ok' }, null],
  [{ status: 302, headers: { location: '/elsewhere' } }, 'pending', { status_code: 302 }, 'http_3xx'],
  [{ status: 404, body: 'no such hook' }, 'pending', { status_code: 404, response: 'no such hook' }, 'http_4xx'],
  [{ status: 500 }, 'pending', { status_code: 500 }, 'http_5xx'],
  [{ status: 410 }, 'failed', { status_code: 410 }, 'http_4xx'],
  [{ hangUp: true }, 'pending', { error: expect.stringMatching(/closed the connection/) as string }, 'connection'],
])('an answer %j makes the delivery %s', async (answer, status, attempt, errorClass) => {
  const webhook = await world.webhook(who, { url: receiver.url });
  receiver.answer = answer;
  const deliverer = world.deliverer({ node: 'node_a' });
  deliverer.take(await world.emit(webhook, who, 1, 'node_a'));
  const [row] = await settled(webhook.id);
  expect(row).toMatchObject({ status, attempt_count: 1, attempts: [attempt], error_class: errorClass });
  expect(receiver.requests.length).toBe(1);
});

test('a receiver that does not answer is given up after the timeout, and its connection is closed', async () => {
  let closed = 0;
  const server = createServer((request) => void request.socket.on('close', () => closed++));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const webhook = await world.webhook(who, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` });
  const deliverer = world.deliverer({ node: 'node_a', limits: { timeoutMs: 150 } });
  deliverer.take(await world.emit(webhook, who, 1, 'node_a'));
  const [row] = await settled(webhook.id);
  const limit = { name: 'deliveryTimeoutMs', value: 150, used: expect.any(Number) };
  expect(row).toMatchObject({
    status: 'pending',
    error_class: 'timeout',
    attempts: [{ error: 'No answer within 150 ms', limit }],
  });
  expect(row?.attempts[0]?.limit?.used).toBeGreaterThanOrEqual(150);
  await eventually(() => closed === 1);
  await new Promise((resolve) => server.close(resolve));
});

test('headers over their limit fail an attempt with it', async () => {
  const webhook = await world.webhook(who, { url: receiver.url });
  receiver.answer = { status: 200, headers: { long: 'a'.repeat(LIMITS.maxFetchResponseHeaderBytes) } };
  const deliverer = world.deliverer({ node: 'node_a' });
  deliverer.take(await world.emit(webhook, who, 1, 'node_a'));
  const [row] = await settled(webhook.id);
  const { maxFetchResponseHeaderBytes: value } = LIMITS;
  const limit = { name: 'maxFetchResponseHeaderBytes', value, used: value + 1 };
  expect(row).toMatchObject({ status: 'pending', attempts: [{ error: expect.stringContaining('too large'), limit }] });
});

test('a 2xx counts although its body never ends, and only the start of a body is kept', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200);
    response.write(`\0${'x'.repeat(2_000)}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const webhook = await world.webhook(who, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` });
  const deliverer = world.deliverer({ node: 'node_a', limits: { timeoutMs: 150 } });
  deliverer.take(await world.emit(webhook, who, 1, 'node_a'));
  const [row] = await settled(webhook.id);
  expect(row?.status).toBe('delivered');
  expect(row?.attempts[0]?.response).toBe(`\ufffd${'x'.repeat(LIMITS.maxStoredResponseBytes - 1)}`);
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
});

test('a refused address is a failed attempt that is tried again', async () => {
  const webhook = await world.webhook(who, { url: 'http://169.254.169.254/' });
  const egress = createEgress({ allow: [], deniedPorts: () => [] });
  const deliverer = world.deliverer({ node: 'node_a', egress });
  deliverer.take(await world.emit(webhook, who, 1, 'node_a'));
  const [row] = await settled(webhook.id);
  expect(row).toMatchObject({
    status: 'pending',
    attempts: [{ error: expect.stringMatching(/not a public address/) }],
  });
});

test('a secret that does not open is a failed attempt, and says nothing of it to the tenant', async () => {
  const webhook = await world.webhook(who, { url: receiver.url });
  const other = await world.account();
  const deliverer = world.deliverer({ node: 'node_a' });
  const [due] = await world.emit(webhook, who, 1, 'node_a');
  deliverer.take([{ ...due!, accountId: other.accountId }]);
  const [row] = await settled(webhook.id);
  expect(row?.attempts[0]?.error).toMatch(/could not be signed/);
  expect(receiver.requests).toEqual([]);
});

test('a failed attempt leaves a job for the account and second at which the next is due', async () => {
  // Jobs are its account's: this one has no others.
  const own = await world.account();
  const webhook = await world.webhook(own, { url: receiver.url });
  receiver.answer = { status: 503, headers: { 'retry-after': '100' } };
  const deliverer = world.deliverer({ node: 'node_a' });
  deliverer.take(await world.emit(webhook, own, 3, 'node_a'));
  const rows = await settled(webhook.id);
  for (const row of rows) expect(row.due_in_seconds).toBeGreaterThan(90);
  const jobs = await world.database.db.sql<{ key: string; behind_last: number }[]>`
    select key, extract(epoch from run_at - (
        select max(next_attempt_at) from deliveries where webhook_id = ${webhook.id}
      ))::float8 as behind_last
    from graphile_worker.jobs where key like ${`deliver:${own.accountId}:%`} order by run_at`;
  expect(jobs.length).toBeLessThanOrEqual(2);
  expect(jobs.at(-1)!.behind_last).toBeGreaterThanOrEqual(0);
  expect(jobs.at(-1)!.behind_last).toBeLessThan(1.1);
});
