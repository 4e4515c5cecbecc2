import { HeadwaterError, newId, notFound } from '@headwater/shared';
import type { Accounts, AccountSettings } from '../contract/index.ts';
import { createBatcher, type Database, readPage, type Sql } from '../db/index.ts';
import { createAccountKeys } from './account-keys.ts';
import { createAccountLimits } from './account-limits.ts';
import type { AccountRoom } from './account-room.ts';
import { changeAccountSettings, insertAccount, owning, readAccounts, readAccountSettings } from './accounts.sql.ts';
import { generateApiKey, hashApiKey } from './api-key.ts';
import { findApiKeys, insertApiKey } from './api-keys.sql.ts';
import { createKeyCache, type KeyCache } from './key-cache.ts';
import type { KeyUses } from './key-uses.ts';
import type { LimitsCache } from './limits-cache.ts';
import { readSessionBearer, type SessionBearer } from './session-token.ts';
import { createTenants } from './tenants.ts';
import { findUserSessions, readMemberships, readUser } from './users.sql.ts';
import { validateAccount } from './validate-account.ts';

/** Settings that an account decides for itself; see Accounts. */
function createAccountSettings(
  sql: Sql,
  cache: Pick<LimitsCache, 'refresh'>,
): Pick<Accounts, 'settings' | 'changeSettings'> {
  async function read(accountId: string): Promise<AccountSettings> {
    const found = await readAccountSettings(sql, accountId);
    if (found === undefined) throw notFound('account', accountId);
    return found;
  }
  return {
    settings: (who) => read(who.accountId),
    async changeSettings({ accountId }, change) {
      await changeAccountSettings(sql, accountId, change);
      // The notification reaches this node too, but later than the answer of this call.
      await cache.refresh(accountId);
      return read(accountId);
    },
  };
}

/** Longer than any key there is; keeps a hostile header from being hashed. */
const MAX_KEY_CHARS = 256;
/**
 * Keys that are not in memory are looked up together, one query at a time: however many made-up
 * keys come in, they take one connection.
 */
const MAX_LOOKUPS = 256;
const LOOKUP_INTERVAL_MS = 2;

/**
 * Tenants and their keys. A revoked key is refused at once on the node that revoked it and within
 * five seconds on others (keys are looked up again after that time), and so is one that has
 * expired. The last key that may do everything for ever cannot be revoked (CONFLICT): make its
 * successor first, or nobody could get in to make one.
 */
export function createAccounts(options: {
  db: Database;
  limits: LimitsCache;
  room: AccountRoom;
  /** Told of keys that are used. */
  uses?: Pick<KeyUses, 'note'>;
  /** Default: its own. */
  cache?: KeyCache;
}): Accounts {
  const { sql } = options.db;
  const { cache = createKeyCache() } = options;
  const lookups = createBatcher({
    maxBatch: MAX_LOOKUPS,
    minIntervalMs: LOOKUP_INTERVAL_MS,
    async commit(hashes: readonly Buffer[]) {
      const found = await findApiKeys(sql, hashes);
      // A key in use is looked up every few seconds, so requests themselves need not be counted.
      for (const one of found) if (one?.keyId !== undefined) options.uses?.note(one.keyId);
      return found;
    },
  });
  const sessionLookups = createBatcher({
    maxBatch: MAX_LOOKUPS,
    minIntervalMs: LOOKUP_INTERVAL_MS,
    async commit(bearers: readonly SessionBearer[]) {
      const found = await findUserSessions(sql, bearers);
      for (const one of found) if (one?.member !== undefined) options.uses?.note(one.member.sessionId);
      return found;
    },
  });
  return {
    create: (input) => createAccount(sql, input),
    async authenticate(apiKey) {
      if (apiKey.length > MAX_KEY_CHARS) return undefined;
      const hash = hashApiKey(apiKey);
      const session = readSessionBearer(apiKey);
      return cache.find(hash.toString('base64'), () =>
        session === undefined ? lookups.add(hash) : sessionLookups.add(session),
      );
    },
    isKnown: (apiKey) => apiKey.length <= MAX_KEY_CHARS && cache.wasFound(hashApiKey(apiKey).toString('base64')),
    async me(who) {
      const user = await readUser(sql, who.accountId, who.userId);
      if (user === undefined)
        throw new HeadwaterError('UNAUTHORIZED', 'The user of this API key does not exist any more');
      const { member } = who;
      const ofMember = member && { memberships: await readMemberships(sql, member.personId) };
      return { ...user, ...ofMember, limits: await options.limits.get(who.accountId) };
    },
    ...createAccountKeys(sql, options.room, cache),
    async list(request) {
      const { ids, ...page } = await readPage(
        sql,
        { table: 'accounts', accountId: undefined, order: 'created', where: owning(sql, request) },
        request,
      );
      return { ...page, items: await readAccounts(sql, ids) };
    },
    ...createTenants(sql, options.limits, cache.forgetAll),
    ...createAccountLimits(sql, options.limits),
    ...createAccountSettings(sql, options.limits),
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
