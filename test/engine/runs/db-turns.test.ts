import { LIMITS } from '@headwater/shared';
import { expect, test } from 'vitest';
import { createDbTurns } from '../../../engine/src/fairness/db-turns.ts';
import { eventually } from '../../support/eventually.ts';

const LARGE = 'x'.repeat(60_000);
/** Pause that a large value costs its turn while other accounts are active. */
const PAUSE_MS = ((LARGE.length - LIMITS.smallValueChars) / LIMITS.dbReadCharsPerSecond) * 1_000;
const READS = 200;

async function timeOf(hasOthers: boolean, value: string): Promise<number> {
  const inTurn = createDbTurns(() => hasOthers);
  const beganMs = performance.now();
  for (let n = 0; n < READS; n++) expect(await inTurn('o_1', () => Promise.resolve(value))).toBe(value);
  return performance.now() - beganMs;
}

test('reads follow each other without a pause if the tenant is alone or the values are small', async () => {
  expect(await timeOf(false, LARGE)).toBeLessThan(PAUSE_MS * 10);
  expect(await timeOf(true, 'x'.repeat(LIMITS.smallValueChars))).toBeLessThan(PAUSE_MS * 10);
});

test('while others are here an account reads large values at its pace', async () => {
  const turns = LIMITS.maxDbReadsPerTenant;
  expect(await timeOf(true, LARGE)).toBeGreaterThan(PAUSE_MS * (READS / turns - 1) * 0.9);
});

test('so many are under way of an account, and so many in all; one that fails leaves its place', async () => {
  const inTurn = createDbTurns(() => true);
  const open: { accountId: string; end: () => void }[] = [];
  const read = (accountId: string) =>
    inTurn(
      accountId,
      () =>
        new Promise((_, reject) => {
          open.push({ accountId, end: () => reject(new Error('gone')) });
        }),
    ).catch(() => undefined);
  const all = ['o_1', 'o_2', 'o_3'].flatMap((accountId) => Array.from({ length: 10 }, () => read(accountId)));
  await eventually(() => open.length === LIMITS.maxDbReads);
  const ofFirst = () => open.filter(({ accountId }) => accountId === 'o_1').length;
  expect(ofFirst()).toBe(LIMITS.maxDbReadsPerTenant);
  let ended = 0;
  while (ended < all.length) {
    await eventually(() => open.length > 0);
    expect(open.length).toBeLessThanOrEqual(LIMITS.maxDbReads);
    expect(ofFirst()).toBeLessThanOrEqual(LIMITS.maxDbReadsPerTenant);
    open.shift()?.end();
    ended++;
  }
  await Promise.all(all);
});
