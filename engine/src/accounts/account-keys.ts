import { HeadwaterError, newId, notFound } from '@headwater/shared';
import type { Accounts, NewApiKey, Principal } from '../contract/index.ts';
import { inPageOrder, readPage, type Sql } from '../db/index.ts';
import type { AccountRoom } from './account-room.ts';
import { generateApiKey } from './api-key.ts';
import { createApiKey, readApiKeys, revokeApiKey, rotateApiKey } from './api-keys.sql.ts';
import type { KeyCache } from './key-cache.ts';
import { readOldestUser } from './users.sql.ts';
import { resourceExists } from './accounts.sql.ts';
import { validateKey } from './validate-account.ts';

const PORTAL_KEY_NAME = 'Link to the portal';

/** The keys of accounts; see Accounts. */
export function createAccountKeys(
  sql: Sql,
  room: AccountRoom,
  cache: Pick<KeyCache, 'forget'>,
): Pick<Accounts, 'listKeys' | 'createKey' | 'createPortalKey' | 'createKeyOf' | 'rotateKey' | 'revokeKey'> {
  return {
    async listKeys({ accountId }, request) {
      const { ids, ...page } = await readPage(sql, { table: 'api_keys', accountId, order: 'created' }, request);
      return { ...page, items: inPageOrder(ids, await readApiKeys(sql, accountId, ids)) };
    },
    createKey: (who, key) => createKey(sql, room, who, key),
    createPortalKey(accountId, expiresAt) {
      const key = { name: PORTAL_KEY_NAME, scopes: ['webhooks'], expiresAt } as const;
      return createKeyOf(sql, room, accountId, key, true);
    },
    createKeyOf: (accountId, key) => createKeyOf(sql, room, accountId, key),
    async rotateKey({ accountId, userId, member }, id, overlapHours) {
      const { apiKey, hash, hint } = generateApiKey();
      const next = { id: newId('apiKey'), hash, hint };
      const rotated = id.includes('\0')
        ? undefined
        : await room.make(accountId, (limits) =>
            rotateApiKey(sql, { accountId, userId, isOfMember: member !== undefined, id, overlapHours, next }, limits),
          );
      if (rotated === undefined) throw notFound('API key', id);
      if (overlapHours === 0) cache.forget(rotated.keyHash);
      const [record] = await readApiKeys(sql, accountId, [next.id]);
      if (record === undefined) throw notFound('API key', next.id);
      return { record, apiKey };
    },
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
  };
}

async function createKey(sql: Sql, room: AccountRoom, who: Principal, key: NewApiKey, isOfPortal = false) {
  validateKey(key);
  const { scopes = ['full'], expiresAt, resource } = key;
  if (resource !== undefined && (resource.includes('\0') || !(await resourceExists(sql, who.accountId, resource)))) {
    const fields = [{ path: 'resource', message: 'is no source, workflow or webhook of this account' }];
    throw new HeadwaterError('INVALID_REQUEST', `resource ${fields[0]?.message}`, { fields });
  }
  const given = { name: key.name.trim(), scopes, ...(expiresAt && { expiresAt }), ...(resource && { resource }) };
  const { apiKey, hash, hint } = generateApiKey();
  const id = newId('apiKey');
  const row = { id, accountId: who.accountId, userId: who.userId, ...given, hash, hint, isOfPortal };
  const createdAt = await room.make(who.accountId, (limits) =>
    createApiKey(sql, row, limits, who.member !== undefined),
  );
  return { record: { id, ...given, hint, createdAt }, apiKey };
}

async function createKeyOf(sql: Sql, room: AccountRoom, accountId: string, key: NewApiKey, isOfPortal = false) {
  const userId = accountId.includes('\0') ? undefined : await readOldestUser(sql, accountId);
  if (userId === undefined) throw notFound('account', accountId);
  return createKey(sql, room, { accountId, userId }, key, isOfPortal);
}
