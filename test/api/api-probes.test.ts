import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../support/http-server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.server.stop());
beforeEach(() => {
  server.calls.length = 0;
  server.behaviour.fail = undefined;
});

test('healthz follows the engine, and does not wait for it forever', async () => {
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  server.behaviour.ready = () => Promise.reject(new Error('gone'));
  expect((await fetch(`${server.url}/healthz`)).status).toBe(503);
  server.behaviour.ready = () => new Promise(() => undefined);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(503);
  server.behaviour.ready = async () => true;
});

test('requests for healthz at the same time share one query of the engine', async () => {
  let asked = 0;
  server.behaviour.ready = async () => {
    asked++;
    return true;
  };
  const answers = await Promise.all(Array.from({ length: 200 }, () => fetch(`${server.url}/healthz`)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(asked).toBeGreaterThan(0);
  expect(asked).toBeLessThan(40);
});

test('metrics name routes, never ids', async () => {
  await server.call('/v1/sources/dc_1');
  await fetch(`${server.url}/e/known-key-of-a-tenant`);
  const text = await (await fetch(`${server.url}/metrics`)).text();
  expect(text).toContain('headwater_test 1');
  expect(text).toContain('route="/v1/sources/{id}"');
  expect(text).toContain('headwater_ingest_requests_total{status="200"} 1');
  expect(text).not.toContain('dc_1');
  expect(text).not.toContain('known-key');
});

test.each(['identity', 'gzip'])('a client with %s gets the metrics', async (encoding) => {
  const answer = await fetch(`${server.url}/metrics`, { headers: { 'accept-encoding': encoding } });
  expect(answer.headers.get('content-encoding')).toBe(encoding === 'gzip' ? 'gzip' : null);
  expect(await answer.text()).toContain('headwater_test 1');
});

test('hundreds of requests for /healthz without a key leave the thread to others in between', async () => {
  let turns = 0;
  let isOver = false;
  const countTurns = () => {
    turns++;
    if (!isOver) setImmediate(countTurns);
  };
  const answers = Array.from({ length: 1_000 }, async () => server.app.fetch(new Request(`${server.url}/healthz`)));
  countTurns();
  await Promise.all(answers);
  isOver = true;
  expect(turns).toBeGreaterThan(5);
});
