import { expect, test } from 'vitest';
import { createRequestRate } from '../../engine/src/fairness/request-rate.ts';

function rateAtHand() {
  const clock = { nowMs: 0 };
  return { clock, rate: createRequestRate(() => clock.nowMs) };
}

const takeMany = (rate: ReturnType<typeof createRequestRate>, count: number, perSecond = 5) =>
  Array.from({ length: count }, () => rate.take('endpoint', perSecond)).filter(({ waitSeconds }) => waitSeconds === 0)
    .length;

test('ten seconds of the rate may come at once, then one each time that there is one again', () => {
  const { clock, rate } = rateAtHand();
  expect(takeMany(rate, 60)).toBe(50);
  clock.nowMs += 1_000;
  expect(takeMany(rate, 60)).toBe(5);
});

test('a refused request is told the time for the next one, and that one is accepted', () => {
  const { clock, rate } = rateAtHand();
  takeMany(rate, 10, 1);
  const { waitSeconds } = rate.take('endpoint', 1);
  expect(waitSeconds).toBeGreaterThan(0);
  clock.nowMs += waitSeconds * 1_000;
  expect(rate.take('endpoint', 1).waitSeconds).toBe(0);
});

test('requests that were refused do not push the next one further away', () => {
  const { clock, rate } = rateAtHand();
  takeMany(rate, 1_000);
  clock.nowMs += 200;
  expect(takeMany(rate, 10)).toBe(1);
});

test('nothing more than ten seconds is saved up, however long nothing came', () => {
  const { clock, rate } = rateAtHand();
  takeMany(rate, 1);
  clock.nowMs += 3_600_000;
  expect(takeMany(rate, 100)).toBe(50);
});

test('one endpoint does not use up the rate of another', () => {
  const { rate } = rateAtHand();
  takeMany(rate, 1_000);
  expect(rate.take('another', 5).waitSeconds).toBe(0);
});

test('a client is told the rest of its rate, and when the whole burst is free again', () => {
  const { clock, rate } = rateAtHand();
  takeMany(rate, 19);
  expect(rate.take('endpoint', 5)).toMatchObject({ remaining: 30, fullInSeconds: 4 });
  clock.nowMs += 2_000;
  expect(rate.take('endpoint', 5)).toMatchObject({ remaining: 39, fullInSeconds: 2.2 });
  takeMany(rate, 39);
  expect(rate.take('endpoint', 5)).toMatchObject({ remaining: 0, waitSeconds: 0.2 });
});
