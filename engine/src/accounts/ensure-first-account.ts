import { HeadwaterError, newId } from '@headwater/shared';
import type { Database, Transaction } from '../db/index.ts';
import { insertAccount } from './accounts.sql.ts';
import { insertApiKey, restoreApiKey } from './api-keys.sql.ts';
import { readFirstUser } from './users.sql.ts';
import { acceptApiKey, generateApiKey, type NewApiKey } from './api-key.ts';

export interface FirstAccount {
  accountId: string;
  /** A key that was generated now: print it, it cannot be had again. */
  apiKey?: string;
  /** The database was empty. */
  first: boolean;
}

const FIRST_ACCOUNT_LOCK = 4_815_162_346;
const ACCOUNT_NAME = 'Default';
const USERNAME = 'default';

/**
 * Makes the account "Default" with a user and a key in an empty database. `apiKey`
 * (HEADWATER_API_KEY) becomes that key, or, where there are accounts, a valid key of the oldest
 * one, also if it had been revoked: the operator's configuration wins. A former value stays valid
 * until it is revoked. Nodes that start together make one account. Throws CONFLICT when `apiKey`
 * belongs to another account.
 */
export async function ensureFirstAccount(db: Database, options: { apiKey?: string } = {}): Promise<FirstAccount> {
  const given = options.apiKey === undefined ? undefined : acceptApiKey(options.apiKey);
  return db.sql.begin(async (tx): Promise<FirstAccount> => {
    await tx`select pg_advisory_xact_lock(${FIRST_ACCOUNT_LOCK}::bigint)`;
    const owner = await readFirstUser(tx);
    if (owner === undefined) return makeFirstAccount(tx, given);
    if (given !== undefined) await ensureKey(tx, owner, given);
    return { accountId: owner.accountId, first: false };
  });
}

async function makeFirstAccount(tx: Transaction, given: NewApiKey | undefined): Promise<FirstAccount> {
  const owner = { accountId: newId('account'), userId: newId('user') };
  await insertAccount(tx, { id: owner.accountId, name: ACCOUNT_NAME }, { id: owner.userId, username: USERNAME });
  const key = given ?? generateApiKey();
  await insertKey(tx, owner, key, given === undefined ? 'First key' : 'HEADWATER_API_KEY');
  return { accountId: owner.accountId, first: true, ...(given === undefined && { apiKey: key.apiKey }) };
}

async function ensureKey(tx: Transaction, owner: { accountId: string; userId: string }, key: NewApiKey): Promise<void> {
  const holder = await restoreApiKey(tx, key.hash, owner.accountId);
  if (holder === undefined) await insertKey(tx, owner, key, 'HEADWATER_API_KEY');
  else if (holder !== owner.accountId) {
    throw new HeadwaterError(
      'CONFLICT',
      `HEADWATER_API_KEY is a key of the account ${holder} already. Choose another one.`,
    );
  }
}

async function insertKey(tx: Transaction, owner: { accountId: string; userId: string }, key: NewApiKey, name: string) {
  await insertApiKey(tx, { id: newId('apiKey'), ...owner, name, hash: key.hash, hint: key.hint });
}
