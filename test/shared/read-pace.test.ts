import { expect, test } from 'vitest';
import { createActiveTenants, createReadPacer } from '../../shared/src/index.ts';

const SECOND = 1_000_000;
const RATE = { bytesPerSecond: SECOND, burstMs: 50 };

test('beside others a tenant waits for bytes read beyond the pace, and they do not', () => {
  const activeTenants = createActiveTenants();
  let nowMs = 1_000;
  const pace = createReadPacer({ ...RATE, activeTenants, nowMs: () => nowMs });
  activeTenants.saw('neighbour', nowMs);
  expect(pace.waitMs('big', SECOND / 100)).toBe(0);
  expect(pace.waitMs('big', SECOND)).toBe(1_010 - 50);
  expect(pace.waitMs('neighbour', 1)).toBe(0);
  nowMs += 1_010;
  activeTenants.saw('neighbour', nowMs);
  expect(pace.waitMs('big', 0)).toBe(0);
});

test('a single tenant reads without a delay', () => {
  const pace = createReadPacer({ ...RATE, activeTenants: createActiveTenants(), nowMs: () => 1_000 });
  for (let i = 0; i < 10; i++) expect(pace.waitMs('alone', SECOND)).toBe(0);
});
