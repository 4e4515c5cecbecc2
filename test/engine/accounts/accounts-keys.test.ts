import { accountLimits, newId } from '@headwater/shared';
import { beforeEach, expect, test, vi } from 'vitest';
import { createAccounts } from '../../../engine/src/accounts/accounts.ts';
import { ensureFirstAccount } from '../../../engine/src/accounts/ensure-first-account.ts';
import { createKeyCache } from '../../../engine/src/accounts/key-cache.ts';
import { createLimitsCache } from '../../../engine/src/accounts/limits-cache.ts';
import type { Principal } from '../../../engine/src/contract/engine.ts';
import { roomWith } from '../../support/account-room.ts';
import { databaseOfTests } from '../../support/database-of-tests.ts';
import { createKeyUses } from '../../../engine/src/accounts/key-uses.ts';
import { testLog } from '../../support/logs.ts';

const database = databaseOfTests();
beforeEach(async () => {
  await database.db.sql`truncate accounts cascade`;
});

const node = () =>
  createAccounts({ db: database.db, limits: createLimitsCache({ read: async () => ({}) }), room: roomWith() });

const keysOf = async (accounts: ReturnType<typeof node>, who: Principal) =>
  (await accounts.listKeys(who, { limit: 100 })).items;

async function newAccount(name = 'Acme') {
  const accounts = node();
  const made = await accounts.create({ name, email: 'ops@example.com' });
  return { accounts, ...made, who: { accountId: made.account.id, userId: made.user.id } };
}

test('the key of a new account lets its user in, and only a hash of it is stored', async () => {
  const { accounts, apiKey, who } = await newAccount('Acme & Söhne');
  expect(apiKey).toMatch(/^hw_[0-9A-Za-z]{40}$/);
  expect(await accounts.authenticate(apiKey)).toMatchObject(who);
  expect(await accounts.me(who)).toEqual({
    id: who.userId,
    username: 'acme-so-hne',
    email: 'ops@example.com',
    account: { id: who.accountId, name: 'Acme & Söhne' },
    usage: { sources: 0, workflows: 0, webhooks: 0, subscriptions: 0 },
    limits: accountLimits(),
  });
  const rows = await database.db.sql`select * from api_keys`;
  expect(JSON.stringify(rows)).not.toContain(apiKey.slice(3, -4));
  expect(await keysOf(accounts, who)).toMatchObject([{ name: 'First key', hint: apiKey.slice(-4) }]);
});

test('unknown, malformed and endless keys authenticate no account', async () => {
  const { accounts, apiKey } = await newAccount();
  for (const key of ['', 'hw_', `${apiKey}x`, apiKey.toUpperCase(), 'hw_\0', 'k'.repeat(100_000)]) {
    expect(await accounts.authenticate(key)).toBeUndefined();
  }
});

test('a revoked key is refused at once, also when it had just been used', async () => {
  const { accounts, apiKey, who } = await newAccount();
  const second = await accounts.createKey(who, { name: 'CI' });
  expect(await accounts.authenticate(second.apiKey)).toMatchObject(who);
  // An answer that is still on its way while the key is revoked must not be remembered either.
  const [, late] = await Promise.all([accounts.revokeKey(who, second.record.id), accounts.authenticate(second.apiKey)]);
  expect([who.accountId, undefined]).toContain(late?.accountId);
  expect(await accounts.authenticate(second.apiKey)).toBeUndefined();
  expect(await accounts.authenticate(apiKey)).toMatchObject(who);
  const [listed] = await keysOf(accounts, who);
  expect(listed).toMatchObject({ id: second.record.id, name: 'CI', revokedAt: expect.any(Date) });
  await accounts.revokeKey(who, second.record.id);
});

test('the last key of an account cannot be revoked, not even by two calls at once', async () => {
  const { accounts, who } = await newAccount();
  const [first] = await keysOf(accounts, who);
  await expect(accounts.revokeKey(who, first?.id ?? '')).rejects.toMatchObject({ code: 'CONFLICT' });
  const second = await accounts.createKey(who, { name: 'second' });
  const outcomes = await Promise.allSettled([
    accounts.revokeKey(who, first?.id ?? ''),
    accounts.revokeKey(who, second.record.id),
  ]);
  expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected']);
  expect((await keysOf(accounts, who)).filter((key) => key.revokedAt === undefined)).toHaveLength(1);
});

test('one tenant neither sees nor revokes the keys of another, and is told the same as for a key that is not', async () => {
  const a = await newAccount('A');
  const b = await newAccount('B');
  const [keyOfB] = await keysOf(b.accounts, b.who);
  const messageFor = (id: string) =>
    a.accounts.revokeKey(a.who, id).then(
      () => 'revoked',
      (error: Error) => error.message,
    );
  const missing = newId('apiKey');
  expect(await messageFor(keyOfB?.id ?? '')).toBe((await messageFor(missing)).replace(missing, keyOfB?.id ?? ''));
  await expect(a.accounts.revokeKey(a.who, 'key_\0')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(await b.accounts.authenticate(b.apiKey)).toMatchObject(b.who);
  expect(await keysOf(a.accounts, a.who)).toHaveLength(1);
});

test('names and addresses that cannot be stored are refused with the field that is wrong', async () => {
  const accounts = node();
  const fieldsOf = (input: { name: string; email?: string }) =>
    accounts.create(input).then(
      () => [],
      (error: { fields: { path: string }[] }) => error.fields.map((field) => field.path),
    );
  expect(await fieldsOf({ name: ' ' })).toEqual(['name']);
  expect(await fieldsOf({ name: 'a\0b' })).toEqual(['name']);
  expect(await fieldsOf({ name: '\ud800' })).toEqual(['name']);
  expect(await fieldsOf({ name: 'x'.repeat(257), email: 'nobody' })).toEqual(['name', 'email']);
  expect(await fieldsOf({ name: 'ok', email: `${'x'.repeat(320)}@example.com` })).toEqual(['email']);
  expect(await fieldsOf({ name: 'x'.repeat(256), email: 'a@b' })).toEqual([]);
  const { accounts: mine, who } = await newAccount();
  await expect(mine.createKey(who, { name: '' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
});

test('an empty database gets one account, however many nodes start at once', async () => {
  const results = await Promise.all([1, 2, 3].map(() => ensureFirstAccount(database.db)));
  expect(results.filter((result) => result.first)).toHaveLength(1);
  const [{ accountId, apiKey } = { accountId: '', apiKey: '' }] = results.filter(
    (result) => result.apiKey !== undefined,
  );
  expect(new Set(results.map((result) => result.accountId))).toEqual(new Set([accountId]));
  const who = await node().authenticate(apiKey ?? '');
  expect(who?.accountId).toBe(accountId);
  expect(await ensureFirstAccount(database.db)).toEqual({ accountId, first: false });
});

test('a given key opens the first account, whether it was given at the first start or later', async () => {
  const given = 'a-key-of-the-operators-own';
  const fresh = await ensureFirstAccount(database.db, { apiKey: given });
  expect(fresh).toEqual({ accountId: fresh.accountId, first: true });
  await newAccount('Second');
  expect((await node().authenticate(given))?.accountId).toBe(fresh.accountId);
  const later = 'another-key-set-some-time-later';
  for (let i = 0; i < 2; i++) await ensureFirstAccount(database.db, { apiKey: later });
  const who = await node().authenticate(later);
  expect(who?.accountId).toBe(fresh.accountId);
  expect((await node().authenticate(given))?.accountId).toBe(fresh.accountId);
  expect(await database.db.sql`select id from api_keys where account_id = ${fresh.accountId}`).toHaveLength(2);
});

test('a given key that was revoked works again after the next start; one of another account is refused', async () => {
  const given = 'a-key-of-the-operators-own';
  await ensureFirstAccount(database.db);
  const { accountId } = await ensureFirstAccount(database.db, { apiKey: given });
  await database.db.sql`update api_keys set revoked_at = now() where name = 'HEADWATER_API_KEY'`;
  expect(await node().authenticate(given)).toBeUndefined();
  await ensureFirstAccount(database.db, { apiKey: given });
  expect((await node().authenticate(given))?.accountId).toBe(accountId);
  const other = await newAccount('Other');
  await expect(ensureFirstAccount(database.db, { apiKey: other.apiKey })).rejects.toMatchObject({ code: 'CONFLICT' });
  await expect(ensureFirstAccount(database.db, { apiKey: 'short' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  expect(await other.accounts.authenticate(other.apiKey)).toMatchObject(other.who);
});

test('a known key is looked up once in five seconds, an unknown one every time', async () => {
  let nowMs = 0;
  const cache = createKeyCache(() => nowMs);
  const look = vi.fn<() => Promise<Principal>>(async () => ({ accountId: 'o_a', userId: 'u_a' }));
  await Promise.all([cache.find('key', look), cache.find('key', look)]);
  nowMs = 4_999;
  await cache.find('key', look);
  expect(look).toHaveBeenCalledTimes(1);
  nowMs = 5_000;
  await cache.find('key', look);
  expect(look).toHaveBeenCalledTimes(2);
  cache.forget('key');
  await cache.find('key', look);
  expect(look).toHaveBeenCalledTimes(3);
  const unknown = vi.fn<() => Promise<undefined>>(async () => undefined);
  const failing = vi.fn<() => Promise<never>>(() => Promise.reject(new Error('no database')));
  for (let i = 0; i < 3; i++) {
    expect(await cache.find('unknown', unknown)).toBeUndefined();
    await expect(cache.find('failing', failing)).rejects.toThrow('no database');
  }
  expect(unknown).toHaveBeenCalledTimes(3);
  expect(failing).toHaveBeenCalledTimes(3);
});

test('a key that was found stays known until it is forgotten or no longer found', async () => {
  let nowMs = 0;
  const cache = createKeyCache(() => nowMs);
  expect(cache.wasFound('key')).toBe(false);
  await cache.find('key', async () => ({ accountId: 'o_a', userId: 'u_a' }));
  nowMs = 3_600_000;
  expect(cache.wasFound('key')).toBe(true);
  await cache.find('key', async () => undefined);
  await cache.find('unknown', async () => undefined);
  expect([cache.wasFound('key'), cache.wasFound('unknown')]).toEqual([false, false]);
  await cache.find('key', async () => ({ accountId: 'o_a', userId: 'u_a' }));
  cache.forget('key');
  expect(cache.wasFound('key')).toBe(false);
});

test('keys are listed in pages, newest first', async () => {
  const { accounts, who } = await newAccount();
  for (const name of ['second', 'third']) await accounts.createKey(who, { name });
  const first = await accounts.listKeys(who, { limit: 2 });
  expect([first.items.map(({ name }) => name), first.total]).toEqual([['third', 'second'], 3]);
  const rest = await accounts.listKeys(who, { limit: 2, after: first.endCursor ?? '' });
  expect(rest.items.map(({ name }) => name)).toEqual(['First key']);
});

test('when a key was used last is told in batches, and an older time does not replace a newer one', async () => {
  const { apiKey, who } = await newAccount();
  let nowMs = Date.UTC(2026, 0, 1);
  const uses = createKeyUses(database.db.sql, testLog, () => nowMs);
  const limits = createLimitsCache({ read: async () => ({}) });
  const accounts = createAccounts({ db: database.db, limits, room: roomWith(), uses });
  const lastUse = async () => (await keysOf(accounts, who))[0]?.lastUsedAt?.getTime();
  await accounts.authenticate(apiKey);
  expect(await lastUse()).toBeUndefined();
  await uses.flush();
  expect(await lastUse()).toBe(Date.UTC(2026, 0, 1));
  nowMs -= 60_000;
  const [key] = await keysOf(accounts, who);
  uses.note(key!.id);
  await uses.stop();
  expect(await lastUse()).toBe(Date.UTC(2026, 0, 1));
});
