import { expect, test } from 'vitest';
import { ProcessShares, type ProcessUse } from '../../sandbox-runtime/src/pool/process-shares.ts';

const LONG_MS = 750_000;
const SHORT_MS = 10_000;

const shared = (tenantId: string): ProcessUse => ({ tenantId, alone: false, wallMs: 1_000 });
const alone = (tenantId: string, wallMs = LONG_MS): ProcessUse => ({ tenantId, alone: true, wallMs });

/** Takes it again and again while it may; answers how often that was. */
function takeAll(shares: ProcessShares, use: ProcessUse): number {
  let taken = 0;
  for (; shares.mayTake(use); taken++) shares.take(use);
  return taken;
}

/**
 * Accounts in turn, each with a process and as many alone as it may have; answers what each has.
 */
function takeInTurn(shares: ProcessShares, count: number, wallMs = LONG_MS): number[] {
  return Array.from({ length: count }, (_, i) => {
    shares.take(shared(`o_${i}`));
    return 1 + takeAll(shares, alone(`o_${i}`, wallMs));
  });
}

const sum = (counts: number[]): number => counts.reduce((all, count) => all + count, 0);

test.each([
  [1, 1],
  [2, 1],
  [3, 2],
  [4, 2],
  [8, 2],
  [12, 3],
  [32, 8],
  [1_000, 250],
])('with %i processes a single tenant has %i', (max, most) => {
  const shares = new ProcessShares(max);
  shares.take(shared('o_a'));
  expect(1 + takeAll(shares, alone('o_a'))).toBe(most);
});

test('runs alone leave their tenant one of its share', () => {
  const shares = new ProcessShares(32);
  // A run alone may also take the first process, if it is the tenant's first task.
  expect(takeAll(shares, alone('o_a'))).toBe(7);
  expect(shares.mayTake(shared('o_a'))).toBe(true);
});

test.each([
  [2, 0],
  [3, 1],
  [8, 3],
  [32, 15],
])(
  'with %i processes all tenants together have %i long ones beyond their first, and a first one is always free',
  (max, extras) => {
    const shares = new ProcessShares(max);
    const counts = takeInTurn(shares, max);
    expect(sum(counts) - max).toBe(extras);
    expect(shares.mayTake(shared('o_new'))).toBe(true);
    expect(shares.mayTake(alone('o_new'))).toBe(true);
  },
);

test('the first tenant leaves a second process to each of eight others', () => {
  const counts = takeInTurn(new ProcessShares(32), 10);
  expect(counts).toEqual([8, 2, 2, 2, 2, 2, 2, 2, 2, 1]);
});

test('while other tenants have a second process, no tenant has a third', () => {
  const shares = new ProcessShares(32);
  for (let i = 0; i < 7; i++) for (const use of [shared(`o_${i}`), alone(`o_${i}`)]) shares.take(use);
  expect(shares.mayTake(alone('o_0'))).toBe(false);
  expect(shares.mayTake(shared('o_0'))).toBe(false);
  shares.giveBack(alone('o_6'));
  expect(shares.mayTake(alone('o_0'))).toBe(true);
});

test.each([2, 3, 8, 32])('with %i processes a short run may use one more beyond a first', (max) => {
  const shares = new ProcessShares(max);
  takeInTurn(shares, max);
  shares.take(shared('o_new'));
  expect(shares.mayTake(alone('o_new', LONG_MS))).toBe(false);
  // Shared with others, a process has no end that is known.
  expect(shares.mayTake(shared('o_new'))).toBe(false);
  expect(shares.mayTake(alone('o_new', SHORT_MS))).toBe(true);
  shares.take(alone('o_new', SHORT_MS));
  shares.take(shared('o_other'));
  expect(shares.mayTake(alone('o_other', SHORT_MS))).toBe(false);
});

test('short ones do not keep a long one from its place for good', () => {
  const shares = new ProcessShares(8);
  expect(sum(takeInTurn(shares, 8, SHORT_MS))).toBe(12);
  shares.take(shared('o_new'));
  expect(shares.mayTake(alone('o_new'))).toBe(false);
  shares.giveBack(alone('o_0', SHORT_MS));
  // Three short ones are beyond the first ones, and none that is long.
  expect(shares.mayTake(alone('o_new'))).toBe(true);
});

test('a process that is given back may be taken again', () => {
  const shares = new ProcessShares(8);
  takeInTurn(shares, 4);
  for (let i = 0; i < 3; i++) shares.giveBack(alone(`o_${i}`));
  for (let i = 0; i < 4; i++) shares.giveBack(shared(`o_${i}`));
  expect(takeInTurn(shares, 4)).toEqual([2, 2, 2, 1]);
});
