import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEntryPacer, createEntryPacers, ENDPOINT_PACE, REST_PACE } from '../../api/src/entry-pacer.ts';
import { startTestServer, type TestServer } from '../support/http-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.server.stop());

const CROWD = 300;

test('requests without a known key go on a few at a time, and those with one do not wait for them', async () => {
  let refused = 0;
  const headers = { authorization: 'Bearer hw_made_up_made_up_made_up' };
  const crowd = Array.from({ length: CROWD }, async () => {
    expect((await server.call('/v1/users/me', { headers })).status).toBe(401);
    refused++;
  });
  await sleep(50);
  expect((await server.call('/v1/users/me')).status).toBe(200);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  expect(refused).toBeLessThan(CROWD);
  await Promise.all(crowd);
});

test('a path that only begins like a probe waits like all others', async () => {
  const headers = { authorization: 'Bearer hw_made_up_made_up_made_up' };
  let answered = 0;
  const crowd = Array.from({ length: CROWD }, async () => {
    expect((await server.call('/healthz/x', { headers })).status).toBe(404);
    answered++;
  });
  await sleep(50);
  expect((await fetch(`${server.url}/healthz?x`)).status).toBe(200);
  expect(answered).toBeLessThan(CROWD);
  await Promise.all(crowd);
});

test('a client that leaves meanwhile is not served', async () => {
  const before = server.calls.length;
  const leaving = new AbortController();
  const crowd = Array.from({ length: CROWD }, () =>
    fetch(`${server.url}/resume/ex_1/1-1-x`, { signal: leaving.signal }).then(
      () => undefined,
      () => undefined,
    ),
  );
  await sleep(100);
  leaving.abort();
  await Promise.all(crowd);
  await sleep((CROWD / 4) * 8);
  expect(server.calls.length - before).toBeLessThan(CROWD);
});

test('a crowd is let through in its order, four at a time with rests', async () => {
  const door = createEntryPacer(REST_PACE);
  const passed: number[] = [];
  const beganMs = performance.now();
  const turns: Promise<unknown>[] = [];
  for (let nth = 0; nth < 42; nth++) {
    const turn = door();
    if (turn === undefined) passed.push(nth);
    else turns.push(turn.then(() => passed.push(nth)));
  }
  expect(passed).toEqual([0, 1, 2, 3]);
  await Promise.all(turns);
  expect(passed).toEqual(Array.from({ length: 42 }, (_, nth) => nth));
  // Timers may be a millisecond early.
  expect(performance.now() - beganMs).toBeGreaterThan(10 * 7);
});

test('requests of a crowd beyond the bound are refused, or do not wait', () => {
  const full = (pace: typeof REST_PACE) => {
    const door = createEntryPacer(pace);
    for (let nth = 0; nth < pace.maxWaiting + pace.atOnce; nth++) void door();
    return door;
  };
  expect(full(REST_PACE)).toThrow(expect.objectContaining({ code: 'RATE_LIMITED', retryAfterSeconds: 8 }));
  expect(full(ENDPOINT_PACE)()).toBeUndefined();
});

test('a refused request is told the reason and the time for a retry', async () => {
  const narrow = await startTestServer({ pace: { atOnce: 1, restMs: 50, maxWaiting: 40, refuses: true } });
  const answers = await Promise.all(Array.from({ length: 60 }, () => fetch(`${narrow.url}/nothing`)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404, 429]));
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.headers.get('retry-after')).toBe('2');
  expect(await refused?.json()).toMatchObject({
    type: 'urn:headwater:error:rate-limited',
    detail: expect.stringContaining('40 requests to the REST API wait already'),
    retry_after_seconds: 2,
  });
  await narrow.server.stop();
});

test('each key has a door of its own', async () => {
  const door = createEntryPacers(REST_PACE);
  const turns = Array.from({ length: 6 }, () => door('crowd'));
  expect(turns.map((turn) => turn === undefined)).toEqual([true, true, true, true, false, false]);
  expect(door('other')).toBeUndefined();
  await turns[5];
});

test('requests to endpoints of one account go on sixteen at a time while it is to give way', async () => {
  const turns = { take: () => undefined, hasOthers: () => true, mustGiveWay: () => true, count: () => undefined };
  const busy = await startTestServer({ turns });
  const acceptedAtMs: number[] = [];
  const { accept } = busy.engine.ingest;
  busy.engine.ingest.accept = (...args) => {
    acceptedAtMs.push(performance.now());
    return accept(...args);
  };
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => fetch(`${busy.url}/e/known1`, { method: 'POST' })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  // Eighty are five turns with four rests in between. Timers may be a millisecond early.
  const shortest = acceptedAtMs.slice(80).map((atMs, nth) => atMs - (acceptedAtMs[nth] ?? 0));
  expect(Math.min(...shortest)).toBeGreaterThan(4 * 3);
  await busy.server.stop();
});
