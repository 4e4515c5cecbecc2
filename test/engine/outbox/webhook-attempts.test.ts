import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { createEgress } from '../../../engine/src/egress/egress.ts';
import { createDeliveryWorld } from '../../support/delivery-world.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

let hw: Headwater;
let receiver: Receiver;

beforeAll(async () => {
  [hw, receiver] = await Promise.all([sharedHeadwater(), startReceiver()]);
});
afterAll(async () => {
  await hw.stop();
  await receiver.stop();
});
afterEach(() => {
  receiver.requests.length = 0;
  receiver.answer = { status: 200 };
});

const EMITTER = `export default { name: 'Emit', version: '1', run(event) { this.$emit(event); } };`;

/** A webhook that is subscribed to a source of its own. */
async function subscribed(settings: object = {}) {
  const webhook = (await hw.api('POST', '/webhooks', { url: `${receiver.url}/hook`, ...settings })).data;
  const source = await hw.deploy(EMITTER);
  await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhook.id });
  return {
    id: webhook.id as string,
    emit: (event: unknown) => hw.api('POST', `/sources/${source.id}/run`, { event }),
    list: async (query: Record<string, unknown> = {}) =>
      (await hw.api('GET', `/webhooks/${webhook.id}/deliveries`, query)).data,
  };
}

type Subscribed = Awaited<ReturnType<typeof subscribed>>;

/** The newest delivery, once it has `count` attempts and none is in progress. */
const attempted = (webhook: Subscribed, count: number) =>
  eventually(async () => {
    const [delivery] = await webhook.list();
    return delivery?.attempts.length === count && delivery.status !== 'sending' && delivery;
  });

const attempt = async (id: string) => (await hw.api('GET', `/attempts/${id}`)).data;

describe('an attempt', () => {
  test('says when, why, how long in which phase, from where and to where', async () => {
    receiver.answer = { status: 201, headers: { 'x-team': 'a', 'set-cookie': 'id=7' }, body: 'made' };
    const webhook = await subscribed({ headers: { authorization: 'Bearer 6f1c', 'x-own': 'secret too' } });
    await webhook.emit({ n: 1 });
    const delivery = await attempted(webhook, 1);
    const found = await attempt(delivery.attempts[0].id);
    expect(found).toMatchObject({
      delivery_id: delivery.id,
      webhook_id: webhook.id,
      trigger: 'first',
      status_code: 201,
      error: null,
      error_class: null,
      phases: { dns_ms: null, connect_ms: expect.any(Number), tls_ms: null, first_byte_ms: expect.any(Number) },
      reused: false,
      remote_address: '127.0.0.1',
      response: 'made',
      response_base64: null,
      response_bytes: null,
      next_attempt_at: null,
    });
    const [request] = receiver.requests;
    expect(found.request_headers).toMatchObject({
      authorization: '[redacted]',
      'x-own': '[redacted]',
      'webhook-id': request?.headers['webhook-id'],
      'webhook-signature': request?.headers['webhook-signature'],
      'headwater-attempt': '1',
    });
    expect(found.response_headers).toMatchObject({ 'x-team': 'a', 'set-cookie': '[redacted]' });
    const [row] = await hw.sql`select attempts::text as text from deliveries where id = ${delivery.id}`;
    expect(row?.['text']).not.toMatch(/6f1c|secret too|id=7/);
    await webhook.emit({ n: 2 });
    await receiver.until(2);
    const second = await eventually(async () => {
      const [newest] = await webhook.list();
      return newest.id !== delivery.id && newest.status === 'delivered' && newest;
    });
    expect(second.attempts[0]).toMatchObject({
      reused: true,
      remote_address: '127.0.0.1',
      phases: { connect_ms: null, first_byte_ms: expect.any(Number), end_ms: expect.any(Number) },
    });
  });

  test('keeps the first 16 KB of an answer, byte for byte, and shows lists the beginning', async () => {
    const body = Buffer.concat([Buffer.from([0, 0xff, 0xfe]), Buffer.alloc(20_000, 'x')]);
    receiver.answer = { status: 500, body };
    const webhook = await subscribed({ retry_schedule_seconds: [3_600] });
    await webhook.emit({ n: 1 });
    const { attempts } = await attempted(webhook, 1);
    const kept = LIMITS.maxDeliveryResponseBytes;
    expect(attempts[0]).toMatchObject({ response_bytes: kept, error_class: 'http_5xx' });
    expect(attempts[0].response).toHaveLength(LIMITS.maxStoredResponseBytes);
    const whole = await attempt(attempts[0].id);
    expect(Buffer.from(whole.response_base64, 'base64').equals(body.subarray(0, kept))).toBe(true);
    expect(Date.parse(whole.next_attempt_at) - Date.parse(whole.at)).toBeGreaterThan(3_600_000 * 0.7);
    // A long text is one, without base64.
    receiver.answer = { status: 200, body: 'é'.repeat(2_000) };
    await hw.api('POST', `/webhooks/${webhook.id}/retry`);
    const again = await attempted(webhook, 2);
    expect(await attempt(again.attempts[1].id)).toMatchObject({
      trigger: 'manual',
      response: 'é'.repeat(2_000),
      response_base64: null,
      response_bytes: 4_000,
    });
    expect(await hw.sql`select at_ms from delivery_responses where delivery_id = ${again.id}`).toHaveLength(2);
  });

  test('names its cause: event, schedule, owner or test', async () => {
    receiver.script({ status: 500 }, { status: 500 }, { status: 200 }, { status: 200 });
    const webhook = await subscribed({ retry_schedule_seconds: [0, 3_600] });
    await webhook.emit({ n: 1 });
    await attempted(webhook, 2);
    await hw.api('POST', `/webhooks/${webhook.id}/retry`);
    const { id } = await attempted(webhook, 3);
    await hw.api('POST', `/webhooks/${webhook.id}/redeliver`, { delivery_id: id });
    const { attempts } = await attempted(webhook, 4);
    expect(attempts.map(({ trigger }: { trigger: string }) => trigger)).toEqual(['first', 'retry', 'manual', 'manual']);
    const { data } = await hw.api('POST', `/webhooks/${webhook.id}/test`);
    expect(data.attempt).toMatchObject({ trigger: 'test', remote_address: '127.0.0.1' });
    expect(data.attempt).not.toHaveProperty('id');
  });

  test('is not found where it is none, or of another account', async () => {
    const webhook = await subscribed();
    await webhook.emit({ n: 1 });
    const { id, attempts } = await attempted(webhook, 1);
    const { api_key: other } = (await hw.admin('POST', '/accounts', { name: 'Other' })).data;
    expect((await hw.as(other)('GET', `/attempts/${attempts[0].id}`)).status).toBe(404);
    for (const unknown of [`${id}-1`, id, 'dlv_x-1', '%00-1'])
      expect((await hw.api('GET', `/attempts/${unknown}`)).status).toBe(404);
  });
});

test('a delivery whose first attempt is under way is being sent, and has no next attempt', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  receiver.answer = { after: promise };
  const webhook = await subscribed();
  await webhook.emit({ n: 1 });
  await receiver.until(1);
  expect(await webhook.list()).toMatchObject([{ status: 'sending', next_attempt_at: null, attempts: [] }]);
  expect(await webhook.list({ status: 'pending' })).toEqual([]);
  expect(await webhook.list({ status: 'sending' })).toHaveLength(1);
  resolve();
  await attempted(webhook, 1);
});

test.each([
  ['a word of the answer', 'No Such Shop', true],
  ['a header of the answer', 'x-reason: closed', true],
  ['the address', '127.0.0.1', true],
  ['the name of a field', 'duration_ms', false],
  ['what is in no attempt', 'something else', false],
])('lists are filtered by text: %s', async (_, text, isFound) => {
  receiver.answer = {
    status: 410,
    headers: { 'x-reason': 'closed' },
    body: 'there is no such "shop"\n'.replaceAll('"', ''),
  };
  const webhook = await subscribed();
  await webhook.emit({ n: 1 });
  const { id } = await attempted(webhook, 1);
  expect((await webhook.list({ text })).map((one: { id: string }) => one.id)).toEqual(isFound ? [id] : []);
  expect((await webhook.list({ text: id })).map((one: { id: string }) => one.id)).toEqual([id]);
});

test('answers that are kept apart go with their delivery', async () => {
  receiver.answer = { status: 200, body: 'x'.repeat(2_000) };
  const webhook = await subscribed();
  await webhook.emit({ n: 1 });
  const { id } = await attempted(webhook, 1);
  const { deleteExpiredDeliveries } = await import('../../../engine/src/cluster/retention/delete-expired.sql.ts');
  expect(await deleteExpiredDeliveries(hw.sql, [{ id: webhook.id, beforeMs: Date.now() + 60_000 }], 100)).toBe(1);
  expect(await hw.sql`select from delivery_responses where delivery_id = ${id}`).toEqual([]);
});

test('phases tell how far an attempt came: the lookup, and no answer', async () => {
  const world = await createDeliveryWorld();
  const server = createServer((socket) => void socket.resume());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const egress = createEgress({
    allow: ['127.0.0.0/8'],
    deniedPorts: () => [],
    resolver: (_, done) => setTimeout(() => done(null, [{ address: '127.0.0.1', family: 4 }]), 5),
  });
  const who = await world.account();
  const webhook = await world.webhook(who, { url: `http://shop.test:${port}/` });
  const deliverer = world.deliverer({ node: 'node_a', egress, limits: { timeoutMs: 300 } });
  deliverer.take(await world.emit(webhook, who, 1, 'node_a'));
  const [made] = await eventually(async () => {
    const [row] = await world.rows(webhook.id);
    return row?.leased_by === null && row.attempts;
  });
  const [dns, connect, tls, firstByte, end] = made?.phases ?? [];
  expect([dns, connect, tls, firstByte, end]).toEqual([expect.any(Number), expect.any(Number), null, null, null]);
  expect(dns).toBeGreaterThan(3);
  expect(made).toMatchObject({ error_class: 'timeout', remote_address: '127.0.0.1', trigger: 'first' });
  await world.stop();
  server.close();
});
