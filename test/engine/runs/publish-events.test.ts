import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../../shared/src/index.ts';
import { expirePublishedIds } from '../../../engine/src/runs/commit/published-ids.sql.ts';
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
afterEach(async () => {
  receiver.requests.length = 0;
  await hw.limit({ maxQueuedDeliveries: null, maxEventBytes: null, maxRequestsPerSecond: null });
});

async function ingestSource(name: string): Promise<string> {
  const { status, data, text } = await hw.api('POST', '/sources', { kind: 'ingest', name });
  if (status !== 200) throw new Error(text);
  return data.id;
}

/** Its webhook, subscribed. */
async function heard(sourceId: string, eventName?: string) {
  const webhook = (await hw.api('POST', '/webhooks', { url: `${receiver.url}/hook` })).data;
  const channel = eventName === undefined ? {} : { event_name: eventName };
  await hw.api('POST', '/subscriptions', { emitter_id: sourceId, listener_id: webhook.id, ...channel });
  return webhook as { id: string; secret: string };
}

const publish = (id: string, body: Record<string, unknown>) => hw.api('POST', `/sources/${id}/events`, body);
const storedOf = async (id: string) => (await hw.api('GET', `/sources/${id}/events`, { expand: 'event' })).data;

describe('one event', () => {
  test('is stored and delivered, signed, in one call', async () => {
    const id = await ingestSource('orders');
    const webhook = await heard(id, 'order.paid');
    const sent = {
      id: 'a-1',
      event_name: 'order.paid',
      data: { total: 12 },
      summary: 'Paid',
      timestamp: 1_763_640_000_123,
    };
    const { status, data } = await publish(id, sent);
    expect(status).toBe(200);
    expect(data).toMatchObject({ source_id: id, events: [{ given_id: 'a-1', duplicate: false }] });
    const [request] = await receiver.until(1);
    expect(request?.body).toBe('{"total":12}');
    expect(request?.headers).toMatchObject({
      'webhook-id': data.events[0].message_id,
      'headwater-channel': 'order.paid',
    });
    const key = Buffer.from(webhook.secret.slice('whsec_'.length), 'base64');
    const signed = [data.events[0].message_id, request?.headers['webhook-timestamp'], request?.body].join('.');
    const signature = createHmac('sha256', key).update(signed).digest('base64');
    expect(request?.headers['webhook-signature']).toBe(`v1,${signature}`);
    expect(await storedOf(id)).toMatchObject([
      {
        id: data.events[0].id,
        event: { total: 12 },
        metadata: { id: 'a-1', name: 'order.paid', summary: 'Paid', ts: 1_763_640_000_123, trace_id: data.trace_id },
      },
    ]);
  });

  test('leads to its trace, and is counted', async () => {
    const id = await ingestSource('traced');
    const webhook = await heard(id);
    const { data } = await publish(id, { data: 1 });
    await receiver.until(1);
    const trace = await eventually(async () => {
      const found = (await hw.api('GET', `/traces/${data.trace_id}`)).data;
      return JSON.stringify(found).includes('"delivered"') && found;
    });
    expect(JSON.stringify(trace)).toContain(webhook.id);
    const seen = async () => {
      const { totals } = (await hw.api('GET', '/stats', { emitter_id: id })).data;
      return totals?.emitted === 1 && totals.received === 1;
    };
    await eventually(seen, { what: 'the counters of the source' });
  });

  test('may be one of any source, and leaves its dedupe alone', async () => {
    const code = `export default { name: 'Own', version: '1', dedupe: 'greatest',
      run({ id }) { this.$emit({ id }, { id }); } };`;
    const { id } = await hw.deploy(code);
    await publish(id, { id: '1000', data: 'published' });
    await hw.api('POST', `/sources/${id}/run`, { event: { id: 1 } });
    const events = await hw.untilEvents(id, 2);
    expect(events.map(({ event }) => event)).toEqual(['published', { id: 1 }]);
  });

  test('runs a source that listens', async () => {
    const id = await ingestSource('heard-by-code');
    const listener = await hw.deploy(`export default { name: 'L', version: '1', run(e) { this.$emit({ got: e }); } };`);
    await hw.api('POST', '/subscriptions', { emitter_id: id, listener_id: listener.id });
    await publish(id, { data: { n: 7 } });
    const [event] = await hw.untilEvents(listener.id, 1);
    expect(event?.event).toEqual({ got: { n: 7 } });
  });
});

describe('an id that is known', () => {
  test('is told as a duplicate, with the event that was stored for it, and delivered once', async () => {
    const id = await ingestSource('known');
    await heard(id);
    const first = (await publish(id, { id: 'x', data: 1 })).data;
    const again = (await publish(id, { id: 'x', data: 2 })).data;
    expect(again.events).toEqual([{ ...first.events[0], duplicate: true }]);
    await publish(id, { id: 'y', data: 3 });
    await receiver.until(2);
    expect((await storedOf(id)).map((one: { event: number }) => one.event)).toEqual([3, 1]);
    expect(receiver.requests.map(({ body }) => body).toSorted()).toEqual(['1', '3']);
  });

  test('is one event, however many requests bring it at once', async () => {
    const id = await ingestSource('at-once');
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => publish(id, { id: 'same', data: n })));
    const events = answers.map(({ data }) => data.events[0]);
    expect(new Set(events.map((one) => one.id)).size).toBe(1);
    expect(events.filter((one) => !one.duplicate)).toHaveLength(1);
    expect(await storedOf(id)).toHaveLength(1);
    const later = await Promise.all(Array.from({ length: 20 }, () => publish(id, { id: 'same', data: 'later' })));
    expect(new Set(later.map(({ data }) => data.events[0].duplicate))).toEqual(new Set([true]));
  });

  test('from another source is new, and so is an expired one', async () => {
    const [one, other] = await Promise.all([ingestSource('one'), ingestSource('other')]);
    for (const id of [one, other])
      expect((await publish(id, { id: 'z', data: 1 })).data.events[0].duplicate).toBe(false);
    expect(await expirePublishedIds(hw.sql, Date.now() - 3_600_000, 1_000)).toBe(0);
    expect(await expirePublishedIds(hw.sql, Date.now() + 60_000, 1_000)).toBeGreaterThanOrEqual(2);
    expect((await publish(one, { id: 'z', data: 1 })).data.events[0].duplicate).toBe(false);
  });
});

describe('a batch', () => {
  test('keeps its order, and answers each of its events', async () => {
    const id = await ingestSource('batch');
    const events = [
      { id: 'b-1', data: 1, timestamp: '2026-11-20T14:00Z' },
      { id: 'b-2', data: 2, timestamp: '2020-01-01' },
      { id: 'b-1', data: 3 },
      { data: 4 },
    ];
    const { data } = await publish(id, { events });
    expect(data.events.map((one: { duplicate: boolean }) => one.duplicate)).toEqual([false, false, true, false]);
    expect(data.events[2].id).toBe(data.events[0].id);
    expect((await storedOf(id)).map((one: { event: number }) => one.event)).toEqual([4, 2, 1]);
  });

  test.each([
    [{ events: [] }, 'events'],
    [{ events: Array.from({ length: 101 }, () => ({ data: 1 })) }, 'events'],
    [{ events: [{ data: 1 }], data: 2 }, 'data'],
    [{ events: [{ data: 1 }, {}] }, 'events.1.data'],
    [{}, 'data'],
    [{ data: 1, event_name: '$errors' }, 'event_name'],
    [{ data: 1, event_name: 'a', type: 'b' }, 'type'],
    [{ data: 1, id: '' }, 'id'],
    [{ data: 1, id: 'x'.repeat(513) }, 'id'],
    [{ data: 1, chanel: 'x' }, 'chanel'],
    [{ data: 1, timestamp: 'yesterday' }, 'timestamp'],
  ])('or event that is none is refused, by name: %j', async (body, path) => {
    const id = await sharedSource();
    const { status, text } = await publish(id, body);
    expect([status, (JSON.parse(text) as { errors: { path: string }[] }).errors[0]?.path]).toEqual([400, path]);
    expect(await storedOf(id)).toEqual([]);
  });

  let shared: Promise<string> | undefined;
  const sharedSource = () => (shared ??= ingestSource('refusing'));
});

describe('a publish that cannot be stored', () => {
  test('is refused with the limit, and nothing of it is stored', async () => {
    const id = await ingestSource('too-large');
    await hw.limit({ maxEventBytes: 1024 });
    const { status, text } = await publish(id, { events: [{ data: 1 }, { data: 'x'.repeat(2_000) }] });
    expect([status, JSON.parse(text).limit.name]).toEqual([413, 'maxEventBytes']);
    expect(JSON.parse(text).errors[0].path).toBe('events.1.data');
    expect(await storedOf(id)).toEqual([]);
  });

  test('as too much waits is refused for now, and nothing of it is stored', async () => {
    const id = await ingestSource('backlog');
    await heard(id);
    await heard(id);
    await hw.limit({ maxQueuedDeliveries: 1 });
    const response = await fetch(`${hw.url}/v1/sources/${id}/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${hw.apiKey}`, 'content-type': 'application/json' },
      body: '{"id":"later","data":1}',
    });
    const problem = (await response.json()) as { limit: { name: string } };
    expect([response.status, problem.limit.name]).toEqual([429, 'maxQueuedDeliveries']);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await storedOf(id)).toEqual([]);
    await hw.limit({ maxQueuedDeliveries: null });
    expect((await publish(id, { id: 'later', data: 1 })).data.events[0].duplicate).toBe(false);
  });

  test('as it comes too fast is refused for now', async () => {
    const id = await ingestSource('fast');
    await hw.limit({ maxRequestsPerSecond: 1 });
    const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => publish(id, { data: n })));
    const statuses = answers.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    const stored = (await hw.api('GET', `/sources/${id}/events`, { limit: 100 })).data;
    expect(stored).toHaveLength(statuses.filter((status) => status === 200).length);
  });

  test('tells the rest of the rate, also in a refusal', async () => {
    const id = await ingestSource('counted');
    await hw.limit({ maxRequestsPerSecond: 1 });
    const send = () =>
      fetch(`${hw.url}/v1/sources/${id}/events`, {
        method: 'POST',
        headers: { authorization: `Bearer ${hw.apiKey}`, 'content-type': 'application/json' },
        body: '{"data":1}',
      });
    const first = await send();
    expect(first.headers.get('ratelimit-policy')).toBe('"maxRequestsPerSecond";q=10;w=10');
    expect(first.headers.get('ratelimit')).toBe('"maxRequestsPerSecond";r=9;t=1');
    const answers = await Promise.all(Array.from({ length: 40 }, send));
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.headers.get('ratelimit')).toBe('"maxRequestsPerSecond";r=0;t=1');
    await hw.limit({ maxRequestsPerSecond: null });
    expect((await send()).headers.get('ratelimit')).toBeNull();
  });

  test.each(['dc_00000000000000000000', 'p_1', 'nothing'])('as there is no source %s is not found', async (id) => {
    expect((await publish(id, { data: 1 })).status).toBe(404);
  });

  test('as the source is stopped or deleted says so', async () => {
    const id = await ingestSource('stopped');
    await hw.api('PUT', `/sources/${id}`, { active: false });
    const statusNow = async () => (await publish(id, { data: 1 })).status;
    await eventually(async () => (await statusNow()) === 409);
    await hw.api('PUT', `/sources/${id}`, { active: true });
    await eventually(async () => (await statusNow()) === 200);
    await hw.api('DELETE', `/sources/${id}`);
    await eventually(async () => (await statusNow()) === 404);
    expect(await statusNow()).toBe(404);
  });

  test('as it is not the own source is not found', async () => {
    const id = await ingestSource('mine');
    const other = (await hw.admin('POST', '/accounts', { name: 'Other' })).data;
    const { status } = await hw.as(other.api_key)('POST', `/sources/${id}/events`, { data: 1 });
    expect(status).toBe(404);
  });
});

describe('without a source', () => {
  test('events go to that of the account, which is made once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => hw.api('POST', '/events', { type: 'user.created', data: n })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const [id, ...others] = [...new Set(answers.map(({ data }) => data.source_id))];
    expect(others).toEqual([]);
    expect((await hw.api('GET', `/sources/${id}`)).data).toMatchObject({ name: 'Events', active: true });
    await heard(id, 'user.created');
    await hw.api('POST', '/events', { type: 'user.created', data: 'heard' });
    const [request] = await receiver.until(1);
    expect(request?.body).toBe('"heard"');
  });

  test('another one is made where it was deleted', async () => {
    const before = (await hw.api('POST', '/events', { data: 1 })).data.source_id;
    await hw.api('DELETE', `/sources/${before}`);
    const after = (await hw.api('POST', '/events', { data: 2 })).data;
    expect(after.source_id).not.toBe(before);
    expect((await storedOf(after.source_id)).map((one: { event: number }) => one.event)).toEqual([2]);
  });

  test('two nodes that make one at once agree on it', async () => {
    const account = (await hw.admin('POST', '/accounts', { name: 'Two nodes' })).data;
    const api = hw.as(account.api_key);
    const other = (await api('POST', '/sources', { kind: 'ingest', name: 'Made by another node' })).data.id;
    await hw.sql`update accounts set events_source_id = ${other} where id = ${account.id}`;
    expect((await api('POST', '/events', { data: 1 })).data.source_id).toBe(other);
  });
});

test('a source of events takes no component beside its kind', async () => {
  const { status } = await hw.api('POST', '/sources', { kind: 'ingest', component_key: newId('source') });
  expect(status).toBe(400);
});
