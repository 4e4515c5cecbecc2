import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';

let hw: Headwater;
let target: Receiver;

beforeAll(async () => {
  hw = await startHeadwater();
});
afterAll(() => hw?.stop());
beforeEach(async () => {
  target = await startReceiver();
});
afterEach(() => target.stop());

async function deploy(component_key: string, configured_props: Record<string, unknown> = {}) {
  const { data, text } = await hw.api('POST', '/sources', { component_key, configured_props });
  if (data === undefined) throw new Error(text);
  return { id: data.id as string, endpoint: (data.configured_props.http?.endpoint_url ?? '') as string };
}

test('the registry has our components from the first request on, each once, with labels and descriptions', async () => {
  const list = async () => (await hw.api('GET', '/components/registry', { limit: 100 })).data;
  const [components, again] = await Promise.all([list(), list()]);
  expect(again).toEqual(components);
  expect(components.map(({ key, type }: { key: string; type: string }) => `${type} ${key}`)).toEqual([
    'action data_store-delete-record',
    'action data_store-get-value',
    'action data_store-has-record',
    'action data_store-increment-value',
    'action data_store-list-records',
    'action data_store-set-value',
    'action delay-wait',
    'action filter-continue-if',
    'source github-webhook',
    'source http-request-bin',
    'action http-send-request',
    'source http-webhook-relay',
    'source rss-new-items',
    'source schedule-timer',
  ]);
  for (const { key, description } of components) {
    expect([key, description.length > 20]).toEqual([key, true]);
    const { data } = await hw.api('GET', `/components/registry/${key}`);
    const isInterface = ({ type }: { type: string }) => type.startsWith('$.');
    const unlabelled = data.configurable_props.filter(
      (prop: { type: string; label?: string }) => !isInterface(prop) && prop.label === undefined,
    );
    expect([key, unlabelled]).toEqual([key, []]);
  }
});

test('schedule: every tick is an event with its time and the configured values', async () => {
  const { id } = await deploy('schedule-timer', { timer: { intervalSeconds: 1 }, payload: { a: 1 } });
  const [first, second] = await hw.untilEvents(id, 2);
  await hw.api('DELETE', `/sources/${id}`);
  expect(first?.event).toMatchObject({ interval_seconds: 1, payload: { a: 1 } });
  expect(first?.event.time).toBe(new Date(first?.event.timestamp * 1000).toISOString());
  expect(second?.event.timestamp).toBeGreaterThan(first?.event.timestamp);
});

test('schedule: a tick that comes twice is emitted once', async () => {
  const { id } = await deploy('schedule-timer');
  for (const timestamp of [1_000, 1_000, 2_000]) {
    await hw.api('POST', `/sources/${id}/run`, { event: { timestamp, cron: '* * * * *', timezone: 'UTC' } });
    await hw.untilIdle();
  }
  const events = await hw.untilEvents(id, 2);
  expect(events.map(({ event }) => [event.timestamp, event.cron])).toEqual([
    [1_000, '* * * * *'],
    [2_000, '* * * * *'],
  ]);
});

test('HTTP requests: a request is answered and emitted', async () => {
  const { id, endpoint } = await deploy('http-request-bin', { responseStatus: 201 });
  const response = await fetch(`${endpoint}/a?b=c`, {
    method: 'POST',
    body: '{"n":1}',
    headers: { 'content-type': 'application/json' },
  });
  expect(response.status).toBe(201);
  expect((await hw.untilEvents(id, 1))[0]?.event).toMatchObject({
    method: 'POST',
    path: '/a',
    query: { b: 'c' },
    body: { n: 1 },
  });
});

test('RSS: items of a feed are emitted when it is deployed', async () => {
  target.answer = () => ({
    headers: { 'content-type': 'application/rss+xml' },
    body: '<rss><channel><item><title>One</title><guid>1</guid></item></channel></rss>',
  });
  const { id } = await deploy('rss-new-items', { url: `${target.url}/feed.xml` });
  expect((await hw.untilEvents(id, 1))[0]?.event).toMatchObject({ title: 'One' });
});

test('webhook relay: a request is answered at once, sent on as it was, and emitted with the answer', async () => {
  target.answer = () => ({ status: 207, body: 'taken' });
  const props = { targetUrl: `${target.url}/in?key=1`, secretHeader: 'relay-secret-value' };
  const { id, endpoint } = await deploy('http-webhook-relay', props);
  const body = JSON.stringify({ n: 1 });
  const headers = { 'content-type': 'application/json', 'x-from': 'test' };
  const response = await fetch(`${endpoint}/sub?a=b`, { method: 'PUT', body, headers });
  expect([response.status, await response.json()]).toEqual([202, { accepted: true }]);
  const [relayed] = await hw.untilEvents(id, 1);
  expect(relayed?.event).toMatchObject({
    request: { method: 'PUT', path: '/sub', body: { n: 1 } },
    response: { status: 207, body: 'taken' },
  });
  const [request] = target.requests;
  expect(request).toMatchObject({ method: 'PUT', url: '/in/sub?key=1&a=b', body });
  expect(request?.headers).toMatchObject({ 'x-from': 'test', 'x-relay-secret': 'relay-secret-value' });
  expect(request?.headers.host).toBe(new URL(target.url).host);
});

test('webhook relay: a target that cannot be reached is told of on a channel', async () => {
  const { id, endpoint } = await deploy('http-webhook-relay', { targetUrl: 'http://10.255.255.1/' });
  expect((await fetch(endpoint)).status).toBe(202);
  const [failed] = await hw.untilEvents(id, 1);
  expect(failed?.metadata.name).toBe('failed');
  expect(failed?.event.error).toBeTypeOf('string');
});
