import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type DeployedSource, type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { type ReceivedRequest, type Receiver, startReceiver } from '../../support/receiver.ts';

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
  receiver.answer = {};
});

const EMITTER = `export default { name: 'Emit', version: '1', run(event) { this.$emit(event); } };`;
const transformOf = (run: string) =>
  `export default { name: 'Slim', version: '1', type: 'transform', async run(request) { ${run} } };`;

async function save(componentCode: string): Promise<string> {
  const { status, data, text } = await hw.api('POST', '/components', { component_code: componentCode });
  if (status !== 200) throw new Error(text);
  return data.id;
}

interface Subscribed {
  id: string;
  secret: string;
  source: DeployedSource;
}

/** A webhook with this transform, which gets the events of a source. */
async function subscribe(run: string, settings: object = {}): Promise<Subscribed> {
  const transform_id = await save(transformOf(run));
  const made = await hw.api('POST', '/webhooks', { url: `${receiver.url}/hook?a=1`, transform_id, ...settings });
  if (made.status !== 200) throw new Error(made.text);
  const source = await hw.deploy(EMITTER);
  const { id, secret } = made.data;
  await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: id });
  return { id, secret, source };
}

interface Row {
  event_id: string;
}

const emit = ({ source }: Subscribed, event: unknown) => hw.api('POST', `/sources/${source.id}/run`, { event });
const deliveriesOf = async ({ id }: { id: string }, query: Record<string, unknown> = {}) =>
  (await hw.api('GET', `/webhooks/${id}/deliveries`, query)).data;
const deliveryOf = (webhook: Subscribed, isIt: (delivery: { attempts: object[]; status: string }) => boolean) =>
  eventually(async () => {
    const [newest] = await deliveriesOf(webhook);
    return newest !== undefined && isIt(newest) && newest;
  });
const test1 = async ({ id }: { id: string }, event: unknown) =>
  (await hw.api('POST', `/webhooks/${id}/test`, { event })).data;

describe('a transform', () => {
  test('changes body, headers, method and path, and the signature covers the sent body', async () => {
    const webhook = await subscribe(
      `return { body: { total: request.body.total, of: request.event.emitter_id }, method: 'PUT',
        path: request.path + '&b=2', headers: { 'X-Total': request.body.total, 'x-own': null, 'content-type': 'text/x' } };`,
      { headers: { 'x-own': 'mine', 'x-kept': 'yes' } },
    );
    await emit(webhook, { total: 7, secret: 'gone' });
    const [got] = (await receiver.until(1)) as [ReceivedRequest];
    expect([got.method, got.url]).toEqual(['PUT', '/hook?a=1&b=2']);
    expect(JSON.parse(got.body)).toEqual({ total: 7, of: webhook.source.id });
    expect(got.headers).toMatchObject({ 'x-total': '7', 'x-kept': 'yes', 'content-type': 'text/x' });
    expect(got.headers).not.toHaveProperty('x-own');
    const headers = got.headers as Record<string, string>;
    expect(() => new Webhook(webhook.secret).verify(got.body, headers)).not.toThrow();
    const delivery = await deliveryOf(webhook, ({ status }) => status === 'delivered');
    expect(delivery.attempts[0].request_headers).toMatchObject({ 'x-total': '7', 'x-kept': '[redacted]' });
  });

  test('without a body keeps it byte for byte, and a text is sent unchanged', async () => {
    const webhook = await subscribe(`if (request.body.text) return { body: 'plain' }; return { headers: { a: 'b' } };`);
    const [exact] = (await hw.api('POST', '/events', { data: { n: 1 } })).data.events;
    await hw.sql`update events set data = '{"n": 12345678901234567890}'
      where indexed_at_ms || '-' || seq = ${exact.id}`;
    await hw.api('POST', `/webhooks/${webhook.id}/test`, { event_id: exact.id });
    await test1(webhook, { text: true });
    expect(receiver.requests.map(({ body }) => body)).toEqual(['{"n": 12345678901234567890}', 'plain']);
  });

  test('drops an event: nothing is sent, the delivery says why, and the next one of its order follows', async () => {
    const webhook = await subscribe(
      `if (request.body.n === 1) return { drop: 'a test order' }; if (request.body.n === 2) return null; return request;`,
      { ordering: 'fifo' },
    );
    for (const n of [1, 2, 3]) await emit(webhook, { n });
    expect((await receiver.until(1)).map(({ body }) => body)).toEqual(['{"n":3}']);
    const rows = await eventually(async () => {
      const all = await deliveriesOf(webhook);
      return all.length === 3 && all.every(({ status }: { status: string }) => status !== 'sending') && all;
    });
    const outcomes = rows.map(({ status, attempts }: { status: string; attempts: { error: string | null }[] }) =>
      [status, attempts.map(({ error }) => error)].join(' '),
    );
    expect(outcomes.toSorted()).toEqual([
      'delivered ',
      'dropped The transform dropped it',
      'dropped The transform dropped it: a test order',
    ]);
    expect(await deliveriesOf(webhook, { status: 'dropped' })).toHaveLength(2);
    expect((await hw.api('GET', `/webhooks/${webhook.id}`)).data.failing_since).toBe(null);
    const { data: stats } = await hw.api('GET', `/webhooks/${webhook.id}/stats`);
    expect(stats.status_classes).toMatchObject({ http_2xx: 1, none: 0 });
    const [first] = rows.toSorted((a: Row, b: Row) => a.event_id.localeCompare(b.event_id));
    const trace = await hw.api('GET', `/traces/${first.emitter_id}-${first.event_id}`);
    expect(trace.text).toContain('a test order');
  });

  test('with an error is a failed attempt of the class transform, which the schedule and its owner retry', async () => {
    const webhook = await subscribe(`throw new Error('no total');`, { retry_schedule_seconds: [3600] });
    await emit(webhook, { n: 1 });
    const failed = await deliveryOf(webhook, ({ attempts }) => attempts.length === 1);
    expect(failed).toMatchObject({ status: 'pending', error_class: 'transform' });
    expect(failed.attempts[0]).toMatchObject({
      error: expect.stringMatching(/^The transform failed: no total \(at .*component\.mjs:1:/),
      error_class: 'transform',
      status_code: null,
      request_headers: null,
    });
    expect(failed.next_attempt_at * 1_000 - Date.now()).toBeGreaterThan(1_800_000);
    expect(await deliveriesOf(webhook, { error_class: 'transform' })).toHaveLength(1);
    expect(receiver.requests).toEqual([]);
    // A version that was saved later holds from the attempt after it is named.
    const mended = await save(transformOf(`return { body: { mended: request.body.n } };`));
    await hw.api('PUT', `/webhooks/${webhook.id}`, { transform_id: mended });
    await hw.api('POST', `/webhooks/${webhook.id}/retry`);
    expect((await receiver.until(1)).map(({ body }) => body)).toEqual(['{"mended":1}']);
    await hw.api('PUT', `/webhooks/${webhook.id}`, { transform_id: null });
    await emit(webhook, { n: 2 });
    expect((await receiver.until(2)).at(-1)?.body).toBe('{"n":2}');
  });

  test('without a change leaves each format as it is', async () => {
    const transform_id = await save(transformOf('return request;'));
    for (const format of ['raw', 'envelope', 'cloudevents', 'cloudevents-binary']) {
      const url = `${receiver.url}/hook`;
      const plain = (await hw.api('POST', '/webhooks', { url, format })).data;
      const same = (await hw.api('POST', '/webhooks', { url, format, transform_id })).data;
      const [event] = (await hw.api('POST', '/events', { data: { format } })).data.events;
      for (const { id } of [plain, same]) await hw.api('POST', `/webhooks/${id}/test`, { event_id: event.id });
    }
    const contentOf = ({ body, headers }: ReceivedRequest) => [
      JSON.parse(body),
      Object.entries(headers).filter(([name]) => name.startsWith('ce-') || name === 'content-type'),
    ];
    const contents = receiver.requests.map(contentOf);
    expect(contents).toHaveLength(8);
    for (let i = 0; i < 8; i += 2) expect(contents[i + 1]).toEqual(contents[i]);
  });
});

const HOSTILE: readonly [run: string, says: RegExp][] = [
  [
    `return { headers: { 'Webhook-Signature': 'v1,forged' } };`,
    /headers\.webhook-signature is a header that Headwater/,
  ],
  [`return { headers: { 'webhook-id': 'forged' } };`, /headers\.webhook-id/],
  [`return { headers: { host: 'other.example.com' } };`, /headers\.host/],
  [`return { headers: { 'content-length': 0 } };`, /headers\.content-length/],
  [`return { headers: { 'headwater-event-id': '1-0' } };`, /headers\.headwater-event-id/],
  [`return { headers: { a: 'b\\r\\nwebhook-id: forged' } };`, /headers\.a must have a value/],
  [`return { headers: { 'a b': 'c' } };`, /headers\.a b is not the name/],
  [`return { headers: Object.fromEntries(Array.from({ length: 33 }, (_, n) => ['x-' + n, n])) };`, /at most 32/],
  [`return { path: 'http://other.example.com/' };`, /path must begin with \//],
  [`return { method: 'TRACE' };`, /method must be POST, PUT, PATCH/],
  [`return undefined;`, /run must return the request/],
  [`return [];`, /run must return the request.* not a list/],
  [`return { body: 1n };`, /The body cannot be turned into JSON/],
  [`await fetch('http://127.0.0.1:1/'); return request;`, /The transform failed: /],
  [`this.$emit({}); return request;`, /\$emit cannot be called by a transform/],
  [`for (;;);`, /CPU|cpu/],
  [`const held = []; for (;;) held.push('x'.repeat(1e6) + held.length, new Uint8Array(1e6));`, /memory|CPU/i],
];

describe('a hostile transform', () => {
  beforeAll(() => hw.limit({ runCpuMs: 2_000, memoryMb: 32 }));
  afterAll(() => hw.limit({ runCpuMs: null, memoryMb: null }));

  let id: string;
  beforeAll(async () => {
    const runs = HOSTILE.map(([run]) => `async function (request) { ${run} }`);
    const transform_id = await save(transformOf(`return [${runs.join(',')}][request.body.nth].call(this, request);`));
    id = (await hw.api('POST', '/webhooks', { url: receiver.url, transform_id })).data.id;
  });

  test.each(HOSTILE.map(([run, says], nth) => ({ run, says, nth })))(
    'is stopped, and nothing is sent: $run',
    async ({ says, nth }) => {
      const { delivered, attempt } = await test1({ id }, { nth });
      expect(delivered).toBe(false);
      expect(attempt).toMatchObject({ error_class: 'transform', error: expect.stringMatching(says) });
      expect(receiver.requests).toEqual([]);
    },
  );

  test('stays at the origin of the webhook for any form of path', async () => {
    const transform_id = await save(transformOf('return { path: request.body };'));
    const webhook = (await hw.api('POST', '/webhooks', { url: receiver.url, transform_id })).data;
    for (const path of ['//other.example.com/a', '/\\\\other.example.com', '/@other.example.com', '/a#b'])
      expect(await test1(webhook, path)).toMatchObject({ delivered: true });
    expect(receiver.requests).toHaveLength(4);
    for (const { headers } of receiver.requests) expect(headers.host).toBe(new URL(receiver.url).host);
  });

  test('sees no secret of its webhook', async () => {
    const transform_id = await save(
      transformOf(`return { body: [request, Object.keys(globalThis), Object.entries(this), process.env] };`),
    );
    const { id: webhookId, secret } = (
      await hw.api('POST', '/webhooks', {
        url: receiver.url,
        transform_id,
        headers: { 'x-secret': 'header-secret' },
        auth: { type: 'bearer', token: 'bearer-secret' },
      })
    ).data;
    expect(await test1({ id: webhookId }, { n: 1 })).toMatchObject({ delivered: true });
    const [got] = receiver.requests as [ReceivedRequest];
    expect(got.headers).toMatchObject({ 'x-secret': 'header-secret', authorization: 'Bearer bearer-secret' });
    for (const text of [secret, secret.slice(6), 'header-secret', 'bearer-secret', 'webhook-id'])
      expect(got.body).not.toContain(text);
  });
});

describe('a preview', () => {
  test('runs code that is not saved on past events, and sends nothing', async () => {
    const webhook = await subscribe('return request;');
    for (const n of [1, 2, 3]) {
      await emit(webhook, { n });
      await receiver.until(n);
    }
    await eventually(async () => (await deliveriesOf(webhook, { status: 'delivered' })).length === 3);
    const preview = async (parameters: Record<string, unknown>) =>
      (await hw.api('POST', `/webhooks/${webhook.id}/transform/preview`, parameters)).data;
    const component_code = transformOf(`console.log('n is', request.body.n);
      if (request.body.n === 1) throw new Error('one');
      return request.body.n === 2 ? { drop: 'two' } : { body: { changed: true }, headers: { a: 'b' }, path: '/x' };`);
    const countOf = async () => (await hw.api('GET', '/components', { type: 'transform' })).data.length;
    const before = await countOf();
    const { events } = await preview({ component_code, last: 3 });
    expect(events).toMatchObject([
      {
        outcome: 'sent',
        before: { method: 'POST', path: '/hook?a=1', body: '{"n":3}', headers: { 'content-type': 'application/json' } },
        after: { method: 'POST', path: '/x', body: '{"changed":true}', headers: { a: 'b' } },
        logs: ['n is 3'],
      },
      { outcome: 'dropped', reason: 'two', after: null, before: { body: '{"n":2}' } },
      { outcome: 'failed', error: expect.stringContaining('one'), after: null },
    ]);
    const [newest] = await deliveriesOf(webhook);
    for (const id of [newest.event_id, `${newest.emitter_id}-${newest.event_id}`]) {
      const { events: chosen } = await preview({ event_ids: [id] });
      expect(chosen).toMatchObject([{ emit_id: `${newest.emitter_id}-${newest.event_id}`, outcome: 'sent' }]);
    }
    expect((await preview({ event: { n: 9 } })).events).toMatchObject([{ after: { body: '{"n":9}' } }]);
    expect(await countOf()).toBe(before);
    expect([receiver.requests.length, (await deliveriesOf(webhook)).length]).toEqual([3, 3]);
  });

  test('answers with the mistakes', async () => {
    const { id } = (await hw.api('POST', '/webhooks', { url: receiver.url })).data;
    const preview = (parameters: Record<string, unknown>, as = hw.api) =>
      as('POST', `/webhooks/${id}/transform/preview`, parameters);
    expect([(await preview({})).status, (await preview({})).text]).toEqual([
      400,
      expect.stringContaining('component_id'),
    ]);
    expect((await preview({ component_code: 'export default {' })).status).toBe(400);
    const action = await save(`export default { name: 'A', version: '1', type: 'action', run() {} };`);
    expect((await preview({ component_id: action })).text).toMatch(/must be a component of the type transform/);
    expect((await preview({ component_code: transformOf('return request;'), event_ids: ['1-0'] })).status).toBe(404);
    expect((await preview({ event: {}, last: 2 })).status).toBe(400);
    const other = await hw.newAccount();
    expect((await preview({ event: {} }, other.api)).status).toBe(404);
    const theirs = (await other.api('POST', '/components', { component_code: transformOf('return request;') })).data.id;
    expect((await preview({ component_id: theirs, event: {} })).status).toBe(404);
    expect((await hw.api('PUT', `/webhooks/${id}`, { transform_id: theirs })).status).toBe(404);
    expect((await hw.api('PUT', `/webhooks/${id}`, { transform_id: action })).status).toBe(400);
  });
});

test('a transform has no props, is no source, and is not deleted while a webhook uses it', async () => {
  const withProps = `export default { name: 'T', version: '1', type: 'transform', props: { a: 'string' }, run() {} };`;
  expect((await hw.api('POST', '/components', { component_code: withProps })).text).toMatch(/a transform has no props/);
  const id = await save(transformOf('return request;'));
  expect((await hw.api('POST', '/sources', { component_id: id })).text).toMatch(/is a transform; only sources/);
  const webhook = (await hw.api('POST', '/webhooks', { url: receiver.url, transform_id: id })).data;
  const refused = await hw.api('DELETE', `/components/${id}`);
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('a webhook uses it')]);
  await hw.api('DELETE', `/webhooks/${webhook.id}`);
  expect((await hw.api('DELETE', `/components/${id}`)).status).toBe(204);
});

test('a key for webhooks alone cannot choose code', async () => {
  const id = await save(transformOf('return request;'));
  const webhook = (await hw.api('POST', '/webhooks', { url: receiver.url, transform_id: id })).data;
  const { api_key: key } = (await hw.api('POST', '/api_keys', { name: 'portal', scopes: ['webhooks'] })).data;
  const as = hw.as(key);
  expect((await as('POST', '/webhooks', { url: receiver.url, transform_id: id })).status).toBe(403);
  expect((await as('PUT', `/webhooks/${webhook.id}`, { transform_id: null })).status).toBe(403);
  const path = `/webhooks/${webhook.id}/transform/preview`;
  expect((await as('POST', path, { component_code: transformOf('return null;'), event: {} })).status).toBe(403);
  expect((await as('POST', path, { event: { n: 1 } })).data.events).toMatchObject([{ outcome: 'sent' }]);
  expect((await as('PUT', `/webhooks/${webhook.id}`, { name: 'theirs' })).status).toBe(200);
});
