import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Webhooks } from '../../../engine/src/contract/engine.ts';
import { deleteLeft } from '../../../engine/src/outbox/tunnels/tunnels.ts';
import { openEventSource, type TestEventSource } from '../../support/event-source.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
const opened: TestEventSource[] = [];

beforeAll(async () => {
  hw = await startHeadwater();
});
afterEach(() => {
  for (const stream of opened.splice(0)) stream.close();
});
afterAll(() => hw.stop());

async function makeTunnel(choice: Record<string, unknown> = {}) {
  const { status, data, text } = await hw.api('POST', '/tunnels', choice);
  if (status !== 200) throw new Error(text);
  return data as { id: string; secret: string };
}

async function listenTo(id: string): Promise<TestEventSource> {
  const stream = await openEventSource(`${hw.url}/v1/webhooks/${id}/tunnel`, hw.apiKey);
  opened.push(stream);
  return stream;
}

const requestsOf = ({ messages }: TestEventSource) => messages.map(({ data }) => data);
const until = (stream: TestEventSource, count: number) =>
  eventually(async () => requestsOf(stream).length >= count && requestsOf(stream), { what: `${count} requests` });
const answer = (id: string, body: Record<string, unknown>) => hw.api('POST', `/webhooks/${id}/answer`, body);
const publish = (body: Record<string, unknown>) => hw.api('POST', '/events', body);
const deliveriesOf = async (id: string) => (await hw.api('GET', `/webhooks/${id}/deliveries`)).data;
const statusOf = (id: string, status: string) =>
  eventually(async () => (await deliveriesOf(id)).find((one: { status: string }) => one.status === status), {
    what: `a delivery that is ${status}`,
  });

describe('a delivery through a tunnel', () => {
  test('comes signed, and its answer is that of the attempt', async () => {
    const { id, secret } = await makeTunnel();
    const stream = await listenTo(id);
    await publish({ event_name: 'order.paid', data: { n: 1 } });
    const [request] = await until(stream, 1);
    const { 'webhook-id': messageId, 'webhook-timestamp': at } = request.headers;
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const signature = createHmac('sha256', key).update(`${messageId}.${at}.${request.body}`).digest('base64');
    expect(request).toMatchObject({
      body: '{"n":1}',
      headers: { 'webhook-signature': `v1,${signature}`, 'headwater-channel': 'order.paid' },
    });
    const given = { request_id: request.id, status: 202, headers: { 'x-by': 'me' }, body: 'got it' };
    expect((await answer(id, given)).status).toBe(204);
    const delivery = await statusOf(id, 'delivered');
    expect(delivery).toMatchObject({ id: request.delivery_id, attempts: [{ status_code: 202, response: 'got it' }] });
    expect(JSON.stringify(delivery)).toContain('x-by');
  });

  test('with an error of the listener fails after one attempt', async () => {
    const { id } = await makeTunnel();
    const stream = await listenTo(id);
    await publish({ data: 'refused' });
    const [first] = await until(stream, 1);
    await answer(id, { request_id: first.id, error: 'localhost:4000: connect ECONNREFUSED' });
    const delivery = await statusOf(id, 'failed');
    expect(delivery).toMatchObject({
      error_class: 'connection',
      attempts: [{ error: expect.stringContaining('ECONNREFUSED') }],
    });
    await publish({ data: 'broken' });
    const [, second] = await until(stream, 2);
    await answer(id, { request_id: second.id, status: 500, body: 'oops' });
    await eventually(async () =>
      (await deliveriesOf(id)).some(
        (one: { attempts: { status_code?: number }[] }) => one.attempts[0]?.status_code === 500,
      ),
    );
  });

  test('without an answer times out, and a later answer is refused', async () => {
    const { id } = await makeTunnel();
    await hw.api('PUT', `/webhooks/${id}`, { timeout_seconds: 1 });
    const stream = await listenTo(id);
    await publish({ data: 'late' });
    const [request] = await until(stream, 1);
    expect(await statusOf(id, 'failed')).toMatchObject({ error_class: 'timeout' });
    expect((await answer(id, { request_id: request.id, status: 200 })).status).toBe(404);
  });

  test('fails at once if no client has listened for a while', async () => {
    const { id } = await makeTunnel();
    await hw.sql`update tunnels set listened_at = now() - interval '21 seconds' where webhook_id = ${id}`;
    await publish({ data: 'nobody' });
    const delivery = await statusOf(id, 'failed');
    expect(delivery.attempts[0].error).toContain('Nobody listens');
  });

  test('goes to one of two listeners', async () => {
    const { id } = await makeTunnel();
    const [one, other] = [await listenTo(id), await listenTo(id)];
    for (let n = 0; n < 6; n++) await publish({ data: n });
    const all = () => [...requestsOf(one), ...requestsOf(other)];
    await eventually(async () => all().length >= 6);
    for (const request of all()) await answer(id, { request_id: request.id, status: 200 });
    expect(new Set(all().map(({ body }) => body)).size).toBe(6);
    expect(all()).toHaveLength(6);
  });

  test('is of the source and channels that were asked for', async () => {
    const source = (await hw.api('POST', '/sources', { kind: 'ingest', name: 'chosen' })).data;
    const { id } = await makeTunnel({ emitter_id: source.id, event_name: 'order.*' });
    const stream = await listenTo(id);
    await publish({ event_name: 'order.paid', data: 'other source' });
    await hw.api('POST', `/sources/${source.id}/events`, { event_name: 'user.made', data: 'other channel' });
    await hw.api('POST', `/sources/${source.id}/events`, { event_name: 'order.paid', data: 'chosen' });
    const [request] = await until(stream, 1);
    expect(request.body).toBe('"chosen"');
    await answer(id, { request_id: request.id, status: 200 });
    await statusOf(id, 'delivered');
    expect(requestsOf(stream)).toHaveLength(1);
  });
});

describe('a tunnel', () => {
  test('ends with its webhook', async () => {
    const { id } = await makeTunnel();
    const stream = await listenTo(id);
    expect((await hw.api('DELETE', `/webhooks/${id}`)).status).toBe(204);
    await stream.ended;
    expect((await listenTo(id)).status).toBe(404);
  });

  test('without a listener is deleted, and others stay', async () => {
    const [left, kept] = [await makeTunnel(), await makeTunnel()];
    await hw.sql`update tunnels set listened_at = now() - interval '11 minutes' where webhook_id = ${left.id}`;
    const remove = async ({ accountId }: { accountId: string }, id: string) => {
      expect(accountId).toBe(hw.accountId);
      await hw.api('DELETE', `/webhooks/${id}`);
    };
    await deleteLeft({ sql: hw.sql, webhooks: { delete: remove } as unknown as Webhooks });
    expect((await hw.api('GET', `/webhooks/${left.id}`)).status).toBe(404);
    expect((await hw.api('GET', `/webhooks/${kept.id}`)).status).toBe(200);
  });

  test('is no other webhook, and no other account can listen or answer', async () => {
    const plain = (await hw.api('POST', '/webhooks', { url: 'http://127.0.0.1:8099/' })).data;
    expect((await hw.api('GET', `/webhooks/${plain.id}/tunnel`)).status).toBe(409);
    const { id } = await makeTunnel();
    const stream = await listenTo(id);
    await publish({ data: 'mine' });
    const [request] = await until(stream, 1);
    const other = hw.as((await hw.admin('POST', '/accounts', { name: 'Other' })).data.api_key);
    expect((await other('GET', `/webhooks/${id}/tunnel`)).status).toBe(404);
    expect((await other('POST', `/webhooks/${id}/answer`, { request_id: request.id, status: 200 })).status).toBe(404);
    const theirs = (await other('POST', '/tunnels', {})).data;
    expect((await other('POST', `/webhooks/${theirs.id}/answer`, { request_id: request.id, status: 200 })).status).toBe(
      404,
    );
    expect((await answer(id, { request_id: request.id, status: 200 })).status).toBe(204);
  });

  test.each([{}, { status: 200, error: 'both' }, { status: 99 }, { status: 200, body: 'x'.repeat(16_385) }])(
    'takes no answer that is none: %j',
    async (body) => {
      const { id } = await makeTunnel();
      expect((await answer(id, { request_id: 'treq_1', ...body })).status).toBe(400);
    },
  );

  test('for an unknown emitter is refused and leaves no webhook behind', async () => {
    const before = (await hw.api('GET', '/users/me/webhooks', { limit: 100 })).data.length;
    expect((await hw.api('POST', '/tunnels', { emitter_id: 'dc_00000000000000000000' })).status).toBe(404);
    expect((await hw.api('GET', '/users/me/webhooks', { limit: 100 })).data).toHaveLength(before);
  });
});
