import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createAccountRoom } from '../../../engine/src/accounts/account-room.ts';
import { accountLimits } from '../../../shared/src/index.ts';

const WORK_MS = 40;
/** Timers may be a millisecond early. */
const EARLY_MS = 5;

test('long work is followed by a pause for the same account only', async () => {
  const room = createAccountRoom({ get: () => Promise.resolve(accountLimits()) });
  const begun: Record<string, number> = {};
  const work = (accountId: string, name: string) =>
    room.make(accountId, async () => {
      begun[name] = performance.now();
      await sleep(WORK_MS);
    });
  const first = work('o_a', 'first');
  const second = work('o_a', 'second');
  await first;
  await work('o_b', 'other');
  await second;
  await work('o_a', 'third');
  const after = (one: string, before: string) => (begun[one] ?? 0) - (begun[before] ?? 0);
  expect(after('second', 'first')).toBeGreaterThanOrEqual(2 * (WORK_MS - EARLY_MS));
  expect(after('other', 'first')).toBeLessThan(2 * (WORK_MS - EARLY_MS));
  // No other work waited for it.
  expect(after('third', 'second')).toBeLessThan(2 * (WORK_MS - EARLY_MS));
});
