import { expect, test } from 'vitest';
import { Heartbeat } from '../../sandbox-runtime/src/pool/heartbeat.ts';
import { ReadDelays } from '../../sandbox-runtime/src/pool/read-delays.ts';

const SECOND_MS = 1_000;

test('a process is asked each second while it has a task, and every ten seconds without', () => {
  const heartbeat = new Heartbeat(new ReadDelays());
  const nowMs = Math.ceil(performance.now());
  expect(heartbeat.isDue(nowMs, false)).toBe(true);
  heartbeat.asked(nowMs);
  expect([0.5, 1, 9].map((s) => heartbeat.isDue(nowMs + s * SECOND_MS, true))).toEqual([false, true, true]);
  expect([1, 9, 10].map((s) => heartbeat.isDue(nowMs + s * SECOND_MS, false))).toEqual([false, false, true]);
});

test('it is lost when its first open question is older than five seconds, and later where it has less priority', () => {
  const heartbeat = new Heartbeat(new ReadDelays());
  const startMs = Math.ceil(performance.now());
  heartbeat.began();
  expect(heartbeat.isLost(startMs + 60 * SECOND_MS, false)).toBe(false);
  heartbeat.asked(startMs + 60 * SECOND_MS);
  // Asking again does not make the first question younger.
  heartbeat.asked(startMs + 64 * SECOND_MS);
  expect([65, 66].map((s) => heartbeat.isLost(startMs + s * SECOND_MS, false))).toEqual([false, true]);
  expect([66, 91].map((s) => heartbeat.isLost(startMs + s * SECOND_MS, true))).toEqual([false, true]);
});

test('a start may take half a minute: on a full machine each one that is killed would have to begin anew', () => {
  const heartbeat = new Heartbeat(new ReadDelays());
  const startMs = Math.ceil(performance.now());
  expect([6, 29, 31].map((s) => heartbeat.isLost(startMs + s * SECOND_MS, false))).toEqual([false, false, true]);
  heartbeat.began();
  expect(heartbeat.isLost(startMs + 60 * SECOND_MS, false)).toBe(false);
});

test('an answer counts once for each question', () => {
  const heartbeat = new Heartbeat(new ReadDelays());
  expect(heartbeat.answered()).toBe(false);
  heartbeat.asked(0);
  heartbeat.asked(1);
  expect([1, 2, 3].map(() => heartbeat.answered())).toEqual([true, true, false]);
});

test('it is given the time in which it was not read, ten seconds at the most', () => {
  const rests = new ReadDelays();
  const heartbeat = new Heartbeat(rests);
  heartbeat.began();
  rests.add(20 * SECOND_MS);
  heartbeat.asked(0);
  expect(heartbeat.isLost(6 * SECOND_MS, false)).toBe(true);
  rests.add(3 * SECOND_MS);
  expect([6, 9].map((s) => heartbeat.isLost(s * SECOND_MS, false))).toEqual([false, true]);
  rests.add(60 * SECOND_MS);
  expect([14, 16].map((s) => heartbeat.isLost(s * SECOND_MS, false))).toEqual([false, true]);
});
