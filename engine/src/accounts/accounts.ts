import { HeadwaterError, newId, notFound } from '@headwater/shared';
import type { Accounts, NewApiKey, Principal } from '../contract/engine.ts';
import type { Database, Sql } from '../db/database.ts';
import { createBatcher } from '../db/batcher.ts';
import { findApiKeys } from './find-api-keys.sql.ts';
import { insertAccount } from './insert-account.sql.ts';
import { createApiKey } from './create-api-key.sql.ts';
import { insertApiKey } from './insert-api-key.sql.ts';
import { inPageOrder, readPage } from '../db/paging.ts';
import { readApiKeys } from './read-api-keys.sql.ts';
import { readAccounts } from './read-accounts.sql.ts';
import { readOldestUser } from './read-first-user.sql.ts';
import { readUser } from './read-user.sql.ts';
import { revokeApiKey } from './revoke-api-key.sql.ts';
import { setAccountEmail } from './set-account-email.sql.ts';
import { createAccountLimits } from './account-limits.ts';
import type { AccountRoom } from './account-room.ts';
import { generateApiKey, hashApiKey } from './api-key.ts';
import { createKeyCache } from './key-cache.ts';
import type { LimitsCache } from './limits-cache.ts';
import { validateAccount, validateEmail, validateKey } from './validate-account.ts';

/** Longer than any key there is; keeps a hostile header from being hashed. */
const MAX_KEY_CHARS = 256;
/**
 * Keys that are not in memory are looked up together, one query at a time: however many made-up
 * keys come in, they take one connection.
 */
const MAX_LOOKUPS = 256;
const LOOKUP_INTERVAL_MS = 2;
const PORTAL_KEY_NAME = 'Link to the portal';

/**
 * Tenants and their keys. A revoked key is refused at once on the node that revoked it and within
 * five seconds on others (keys are looked up again after that time), and so is one that has
 * expired. The last key that may do everything for ever cannot be revoked (CONFLICT): make its
 * successor first, or nobody could get in to make one.
 */
export function createAccounts(options: { db: Database; limits: LimitsCache; room: AccountRoom }): Accounts {
  const { sql } = options.db;
  const cache = createKeyCache();
  const lookups = createBatcher({
    maxBatch: MAX_LOOKUPS,
    minIntervalMs: LOOKUP_INTERVAL_MS,
    commit: (hashes: readonly Buffer[]) => findApiKeys(sql, hashes),
  });
  return {
    create: (input) => createAccount(sql, input),
    async authenticate(apiKey) {
      if (apiKey.length > MAX_KEY_CHARS) return undefined;
      const hash = hashApiKey(apiKey);
      return cache.find(hash.toString('base64'), () => lookups.add(hash));
    },
    isKnown: (apiKey) => apiKey.length <= MAX_KEY_CHARS && cache.wasFound(hashApiKey(apiKey).toString('base64')),
    async me(who) {
      const user = await readUser(sql, who.accountId, who.userId);
      if (user === undefined)
        throw new HeadwaterError('UNAUTHORIZED', 'The user of this API key does not exist any more');
      return { ...user, limits: await options.limits.get(who.accountId) };
    },
    async listKeys({ accountId }, request) {
      const { ids, ...page } = await readPage(sql, { table: 'api_keys', accountId, order: 'created' }, request);
      return { ...page, items: inPageOrder(ids, await readApiKeys(sql, accountId, ids)) };
    },
    createKey: (who, key) => createKey(sql, options.room, who, key),
    createPortalKey: (accountId, expiresAt) => createPortalKey(sql, options.room, accountId, expiresAt),
    async revokeKey(who, id) {
      const outcome = await revokeApiKey(sql, who.accountId, id);
      switch (outcome.kind) {
        case 'not-found':
          throw notFound('API key', id);
        case 'last-key':
          throw new HeadwaterError(
            'CONFLICT',
            `${id} is the account's last API key that may do everything and does not expire. Create another one before revoking it.`,
          );
        case 'revoked':
          cache.forget(outcome.keyHash);
      }
    },
    async setEmail(accountId, email) {
      if (email !== null) validateEmail(email);
      const name = accountId.includes('\0') ? undefined : await setAccountEmail(sql, accountId, email);
      if (name === undefined) throw notFound('account', accountId);
      return { id: accountId, name, ...(email !== null && { email }) };
    },
    async list(request) {
      const { ids, ...page } = await readPage(
        sql,
        { table: 'accounts', accountId: undefined, order: 'created' },
        request,
      );
      return { ...page, items: await readAccounts(sql, ids) };
    },
    ...createAccountLimits(sql, options.limits),
  };
}

async function createAccount(sql: Sql, input: { name: string; email?: string }) {
  validateAccount(input);
  const key = generateApiKey();
  const account = { id: newId('account'), name: input.name.trim() };
  const user = { id: newId('user'), username: usernameOf(account.name), ...(input.email && { email: input.email }) };
  await sql.begin(async (tx) => {
    await insertAccount(tx, account, user);
    await insertApiKey(tx, {
      id: newId('apiKey'),
      accountId: account.id,
      userId: user.id,
      name: 'First key',
      hash: key.hash,
      hint: key.hint,
    });
  });
  return { account, user: { id: user.id }, apiKey: key.apiKey };
}

async function createKey(sql: Sql, room: AccountRoom, who: Principal, key: NewApiKey, isOfPortal = false) {
  validateKey(key);
  const { scopes = ['full'], expiresAt } = key;
  const given = { name: key.name.trim(), scopes, ...(expiresAt && { expiresAt }) };
  const { apiKey, hash, hint } = generateApiKey();
  const id = newId('apiKey');
  const row = { id, accountId: who.accountId, userId: who.userId, ...given, hash, hint, isOfPortal };
  const createdAt = await room.make(who.accountId, (limits) => createApiKey(sql, row, limits));
  return { record: { id, ...given, hint, createdAt }, apiKey };
}

async function createPortalKey(sql: Sql, room: AccountRoom, accountId: string, expiresAt: Date) {
  const userId = accountId.includes('\0') ? undefined : await readOldestUser(sql, accountId);
  if (userId === undefined) throw notFound('account', accountId);
  const key = { name: PORTAL_KEY_NAME, scopes: ['webhooks'], expiresAt } as const;
  return createKey(sql, room, { accountId, userId }, key, true);
}

/** For people to read; nothing is looked up by it. */
function usernameOf(accountName: string): string {
  const slug = accountName
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 64);
  return slug === '' ? 'user' : slug;
}
