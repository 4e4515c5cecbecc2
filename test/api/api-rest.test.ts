import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { LIMITS } from '../../shared/src/index.ts';
import { ACCOUNT_ID, postJson, startTestServer, type TestServer } from '../support/http-server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.server.stop());
beforeEach(() => {
  server.calls.length = 0;
  server.behaviour.fail = undefined;
});

test('a list has the engine’s cursors, and passes on those it was given', async () => {
  const response = await server.call('/v1/users/me/webhooks?limit=2&after=abc');
  const body = (await response.json()) as { page_info: unknown; data: Record<string, unknown>[] };
  expect(body.page_info).toEqual({ total_count: 7, count: 1, start_cursor: 'first', end_cursor: 'last' });
  expect(body.data[0]).not.toHaveProperty('secret');
  expect(server.calls[0]?.args[1]).toEqual({ limit: 2, after: 'abc' });
});

test('lists are the same under users/me, workspaces and orgs, and only for one’s own account', async () => {
  const texts = [];
  for (const prefix of ['/v1', '/v1/users/me', `/v1/workspaces/${ACCOUNT_ID}`, `/v1/orgs/${ACCOUNT_ID}`]) {
    const response = await server.call(`${prefix}/subscriptions`);
    expect(response.status).toBe(200);
    texts.push(await response.text());
  }
  expect(new Set(texts).size).toBe(1);
  expect((await server.call('/v1/workspaces/o_other/sources')).status).toBe(404);
});

test('include keeps and exclude drops fields of data', async () => {
  const kept = (await (await server.call('/v1/sources/dc_1?include=id,name')).json()) as unknown;
  expect(kept).toEqual({ data: { id: 'dc_1', name: 'Bin' } });
  const rest = (await (await server.call('/v1/sources?exclude=configured_props,id')).json()) as { data: object[] };
  expect(Object.keys(rest.data[0] ?? {})).toEqual(expect.not.arrayContaining(['configured_props', 'id']));
});

test('event data is answered as it was emitted, digit for digit, and cut when it is long', async () => {
  server.behaviour.eventData = '{"big":12345678901234567890,"deep":' + '['.repeat(9000) + ']'.repeat(9000) + '}';
  const full = await (await server.call('/v1/sources/dc_1/event_summaries?expand=event')).text();
  expect(full).toContain(`"event":${server.behaviour.eventData},`);
  server.behaviour.eventData = JSON.stringify({ text: '€'.repeat(1000) });
  const cut = (await (await server.call('/v1/sources/dc_1/event_summaries')).json()) as {
    data: { event: string; event_truncated: boolean; metadata: object }[];
  };
  const [record] = cut.data;
  expect(record?.event_truncated).toBe(true);
  expect(server.behaviour.eventData.startsWith(record?.event ?? 'x')).toBe(true);
  expect(Buffer.byteLength(record?.event ?? '')).toBeGreaterThan(LIMITS.summaryEventBytes - 4);
  expect(Buffer.byteLength(record?.event ?? '')).toBeLessThanOrEqual(LIMITS.summaryEventBytes);
  expect(record?.metadata).toMatchObject({ emitter_id: 'dc_1', id: 'a1', name: '', summary: null, ts: null });
});

test('deletes of resources answer 204, of events 202, both without a body', async () => {
  const answers = [];
  for (const path of ['/v1/sources/dc_1', '/v1/webhooks/wh_1', '/v1/api_keys/key_1', '/v1/sources/dc_1/events']) {
    const response = await server.call(path, { method: 'DELETE' });
    answers.push([response.status, await response.text()]);
  }
  const query = '/v1/subscriptions?emitter_id=dc_1&listener_id=wh_1';
  answers.push([(await server.call(query, { method: 'DELETE' })).status, '']);
  expect(answers).toEqual([
    [204, ''],
    [204, ''],
    [204, ''],
    [202, ''],
    [204, ''],
  ]);
  expect(server.calls.at(-1)?.args[1]).toEqual({ emitterId: 'dc_1', listenerId: 'wh_1' });
});

test('run passes on any JSON value as the event, and none as none', async () => {
  await server.call('/v1/sources/dc_1/run', { method: 'POST' });
  await server.call('/v1/sources/dc_1/run', postJson({ event: { a: [null] } }));
  await server.call('/v1/sources/dc_1/run', postJson({ event: null }));
  expect(server.calls.map((call) => call.args[2])).toEqual([undefined, { a: [null] }, null]);
});
