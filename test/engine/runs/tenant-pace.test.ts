import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { createGiveWay } from '../../../shared/src/fairness/give-way.ts';
import { createCommitBacklog } from '../../../engine/src/runs/commit/commit-backlog.ts';
import { endAtPace } from '../../../engine/src/fairness/end-at-pace.ts';
import { createActiveTenants, LIMITS } from '../../../shared/src/index.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('a small text ends its turn at once, a large one when the rest of it is paid for', () => {
  vi.useFakeTimers();
  const ended: string[] = [];
  const pace = { smallChars: 1_000, charsPerSecond: 10_000 };
  endAtPace(() => ended.push('small'), 1_000, pace);
  endAtPace(() => ended.push('large'), 3_000, pace);
  vi.advanceTimersByTime(199);
  expect(ended).toEqual(['small']);
  vi.advanceTimersByTime(1);
  expect(ended).toEqual(['small', 'large']);
});

test('a tenant is behind from the bound on, alone, and it is told once when that is over', () => {
  const backlog = createCommitBacklog(10);
  for (const weight of [4.1, 4.2, 4.3]) backlog.add('a', weight);
  backlog.add('b', 9.9);
  expect([backlog.isFull('a'), backlog.isFull('b')]).toEqual([true, false]);
  expect([4.3, 4.2, 4.1].map((weight) => backlog.remove('a', weight))).toEqual([true, false, false]);
  expect(backlog.isFull('a')).toBe(false);
});

test('other tenants are present while two tenants came lately, in each order', () => {
  const activeTenants = createActiveTenants();
  activeTenants.saw('a', 0);
  activeTenants.saw('a', 1);
  expect(activeTenants.hasSeveral(1)).toBe(false);
  activeTenants.saw('b', 2);
  activeTenants.saw('a', 3);
  activeTenants.saw('a', 900);
  expect(activeTenants.hasSeveral(2 + LIMITS.othersPresentMs)).toBe(true);
  expect(activeTenants.hasSeveral(3 + LIMITS.othersPresentMs)).toBe(false);
});

test('a heavy tenant is throttled while a light one is active, and not beside other heavy tenants', () => {
  const activeTenants = createActiveTenants();
  /** Brings the given number per second for each tenant, for a tenth of a second. */
  const bring = (fromMs: number, perSecond: Record<string, number>) => {
    for (let ms = 0; ms < 100; ms++) {
      for (const [tenant, rate] of Object.entries(perSecond)) {
        for (let i = Math.floor((ms * rate) / 1_000); i < Math.floor(((ms + 1) * rate) / 1_000); i++)
          activeTenants.saw(tenant, fromMs + ms);
      }
    }
    return ['big', 'other', 'small'].filter((tenant) => activeTenants.mustGiveWay(tenant, fromMs + 100));
  };
  const much = LIMITS.lightPerSecond * 3;
  const little = LIMITS.lightPerSecond / 2;
  expect(bring(0, { big: much })).toEqual([]);
  expect(bring(100, { big: much, other: much })).toEqual([]);
  expect(bring(200, { big: much, other: much, small: little })).toEqual(['big', 'other']);
  expect(activeTenants.hasLightOther('big', 300)).toBe(true);
  expect(activeTenants.hasLightOther('small', 300)).toBe(false);
  // The small one has gone, the others have not.
  const gone = 300 + LIMITS.othersPresentMs;
  expect(bring(gone, { big: much, other: much })).toEqual([]);
  // A tenant that was busy is light now.
  expect(activeTenants.hasLightOther('big', gone + 900)).toBe(true);
});

test('long work of short steps lets others have the thread, and short work keeps it', async () => {
  const turnsDuring = async (stepMs: number) => {
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    await sleep(2);
    turns = 0;
    const giveWay = createGiveWay();
    for (let step = 0; step < 20; step++) {
      await giveWay();
      const until = performance.now() + stepMs;
      while (performance.now() < until);
    }
    const seen = turns;
    clearInterval(timer);
    return seen;
  };
  expect(await turnsDuring(3)).toBeGreaterThanOrEqual(5);
  // One try may be in the way of other work of the machine.
  const short: number[] = [];
  for (let tries = 0; tries < 5; tries++) short.push(await turnsDuring(0));
  expect(Math.min(...short)).toBeLessThanOrEqual(1);
});
