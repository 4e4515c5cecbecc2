import { LIMITS } from '@headwater/shared';
import { expect, test } from 'vitest';
import { createAuthCache } from '../../../engine/src/connections/auth-cache.ts';
import type { AuthOutcome } from '../../../engine/src/connections/resolve-auth.ts';

const MB = 1024 * 1024;

/** A cache over accounts that are told by their ids, and how often each was asked for. */
function cacheOf(answer: (id: string) => AuthOutcome | Promise<AuthOutcome>) {
  const asked: string[] = [];
  const resolve = async (_: string, id: string) => {
    asked.push(id);
    return answer(id);
  };
  const cache = createAuthCache({ resolve, forget: () => undefined, forgetAll: () => undefined });
  const read = (accountId: string, id: string) => cache.resolve(accountId, id, 'keyed');
  const isKept = async (accountId: string, id: string) => {
    const before = asked.length;
    await read(accountId, id);
    return asked.length === before;
  };
  return { cache, asked, read, isKept };
}

function usable(sealedChars: number): AuthOutcome {
  const definition = { slug: 'keyed', name: 'Keyed', authType: 'keys', fields: [] };
  const row = { definition, credentials: 'x'.repeat(sealedChars) };
  const account = { row, credentials: { fields: { key: 'value' } }, validMs: 600_000 };
  return { ok: true, account } as unknown as AuthOutcome;
}

test('credentials that are kept are bounded in weight', async () => {
  // A megabyte each: two bytes a character.
  const { read, isKept } = cacheOf(() => usable(MB / 2));
  const count = LIMITS.maxCachedAuthBytes / MB;
  // Each entry weighs a little more than its text.
  for (let i = 0; i < count; i++) await read('o_1', `apn_${i}`);
  expect(await isKept('o_1', `apn_${count - 1}`)).toBe(true);
  expect(await isKept('o_1', 'apn_1')).toBe(true);
  expect(await isKept('o_1', 'apn_0')).toBe(false);
});

test('accounts that were used last stay', async () => {
  const { read, isKept } = cacheOf(() => usable(MB / 2));
  const count = LIMITS.maxCachedAuthBytes / MB - 1;
  for (let i = 0; i < count; i++) await read('o_1', `apn_${i}`);
  await read('o_1', 'apn_0');
  await read('o_1', 'apn_new');
  expect(await isKept('o_1', 'apn_0')).toBe(true);
  expect(await isKept('o_1', 'apn_1')).toBe(false);
});

test('a tenant with more than half of the cache makes room, and others keep their entries', async () => {
  const { read, isKept } = cacheOf(() => usable(MB / 2));
  await read('o_small', 'apn_small');
  for (let i = 0; i < 100; i++) await read('o_large', `apn_${i}`);
  expect(await isKept('o_small', 'apn_small')).toBe(true);
  // A new account does not make room either.
  await read('o_third', 'apn_third');
  expect(await isKept('o_small', 'apn_small')).toBe(true);
  expect(await isKept('o_third', 'apn_third')).toBe(true);
});

test('many small ones of one account leave those of others', async () => {
  const { read, isKept } = cacheOf(() => ({ ok: false, message: 'There is none' }));
  await read('o_small', 'apn_small');
  for (let i = 0; i < 3_000; i++) await read('o_large', `apn_${i}`);
  expect(await isKept('o_small', 'apn_small')).toBe(true);
  expect(await isKept('o_large', 'apn_0')).toBe(false);
});

test('an entry that is forgotten while it loads weighs nothing', async () => {
  const waiting: ((outcome: AuthOutcome) => void)[] = [];
  let isWaiting = true;
  const { cache, read, isKept } = cacheOf(() =>
    isWaiting ? new Promise<AuthOutcome>((resolve) => waiting.push(resolve)) : usable(MB / 2),
  );
  const reads = Array.from({ length: 60 }, (_, i) => read('o_1', `apn_${i}`));
  for (let i = 0; i < 60; i++) cache.forget(`apn_${i}`);
  for (const end of waiting) end(usable(MB / 2));
  await Promise.all(reads);
  isWaiting = false;
  const count = LIMITS.maxCachedAuthBytes / MB - 1;
  for (let i = 0; i < count; i++) await read('o_1', `apn_later_${i}`);
  expect(await isKept('o_1', 'apn_later_0')).toBe(true);
  // Nor do entries that are forgotten later.
  for (let i = 0; i < count; i++) cache.forget(`apn_later_${i}`);
  for (let i = 0; i < count; i++) await read('o_1', `apn_last_${i}`);
  expect(await isKept('o_1', 'apn_last_0')).toBe(true);
});
