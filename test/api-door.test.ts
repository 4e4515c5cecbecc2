import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDoor, createDoors } from '../api/src/door.ts';
import { startTestServer, type TestServer } from './support/http-server.ts';

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
  const door = createDoor();
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

test('of a crowd that is too large those beyond a thousand do not wait', () => {
  const door = createDoor();
  const turns = Array.from({ length: 1_100 }, () => door());
  expect(turns.filter((turn) => turn === undefined)).toHaveLength(100);
});

test('each key has a door of its own', async () => {
  const door = createDoors();
  const turns = Array.from({ length: 6 }, () => door('crowd'));
  expect(turns.map((turn) => turn === undefined)).toEqual([true, true, true, true, false, false]);
  expect(door('other')).toBeUndefined();
  await turns[5];
});
