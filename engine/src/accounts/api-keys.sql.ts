import { type AccountLimits, HeadwaterError, type KeyScope, platformLimit, rolesWith } from '@headwater/shared';
import type { ApiKeyRecord, Principal } from '../contract/index.ts';
import type { Sql, Transaction } from '../db/index.ts';
import { shownScopes, storedScopes } from './limited-scopes.ts';
import { overLimit } from './over-limit.ts';
import { lockAccount, requireRoom } from './require-room.sql.ts';

export interface ApiKeyRow {
  id: string;
  accountId: string;
  userId: string;
  name: string;
  hash: Uint8Array;
  hint: string;
  /** Default: `full`. */
  scopes?: readonly KeyScope[];
  /** Default: it does not expire. */
  expiresAt?: Date;
  /** It is the key of a portal link. Default false. */
  isOfPortal?: boolean;
  /** Default: all that its scopes reach. */
  resource?: string;
}

export async function insertApiKey(tx: Sql | Transaction, key: ApiKeyRow): Promise<Date> {
  const [row] = await tx<{ created_ms: number }[]>`
    insert into api_keys (id, account_id, user_id, name, key_hash, hint, scopes, expires_at, resource, of_portal)
    values (${key.id}, ${key.accountId}, ${key.userId}, ${key.name}, ${key.hash}, ${key.hint},
      ${storedScopes(key.scopes ?? ['full'], key.resource)}::text[],
      ${key.expiresAt?.toISOString() ?? null}::timestamptz, ${key.resource ?? null},
      ${key.isOfPortal ?? false})
    returning extract(epoch from created_at)::float8 * 1000 as created_ms`;
  return new Date(row?.created_ms ?? Date.now());
}

interface FoundKeyRow {
  key_hash: Buffer;
  id: string;
  name: string;
  account_id: string;
  user_id: string;
  scopes: string[];
  resource: string | null;
}

/**
 * The principal of each hash, in the same order; undefined for an unknown, revoked or expired key.
 * This is the only query without a tenant: it finds the tenant.
 */
export async function findApiKeys(sql: Sql, keyHashes: readonly Buffer[]): Promise<(Principal | undefined)[]> {
  const rows = await sql<FoundKeyRow[]>`
    select key_hash, id, name, account_id, user_id, scopes, resource from api_keys
    where key_hash = any(${keyHashes.map((hash) => `\\x${hash.toString('hex')}`)}::text[]::bytea[]) and revoked_at is null
      and (expires_at is null or expires_at > now())`;
  const byHash = new Map(rows.map((row) => [row.key_hash.toString('hex'), principalOf(row)]));
  return keyHashes.map((hash) => byHash.get(hash.toString('hex')));
}

function principalOf({ id, name, account_id: accountId, user_id: userId, resource, ...row }: FoundKeyRow): Principal {
  const scopes: KeyScope[] = shownScopes(row.scopes);
  return {
    accountId,
    userId,
    keyId: id,
    keyName: name,
    ...(scopes.includes('full') ? {} : { scopes }),
    ...(resource === null ? {} : { resource }),
  };
}

interface StoredKeyRow {
  id: string;
  name: string;
  hint: string;
  scopes: string[];
  resource: string | null;
  used_ms: number | null;
  created_ms: number;
  expires_ms: number | null;
  revoked_ms: number | null;
}

/** Those of `ids` that are the account's, in no order. */
export async function readApiKeys(sql: Sql, accountId: string, ids: readonly string[]): Promise<ApiKeyRecord[]> {
  const rows = await sql<StoredKeyRow[]>`
    select id, name, hint, scopes, resource,
      extract(epoch from last_used_at)::float8 * 1000 as used_ms,
      extract(epoch from created_at)::float8 * 1000 as created_ms,
      extract(epoch from expires_at)::float8 * 1000 as expires_ms,
      extract(epoch from revoked_at)::float8 * 1000 as revoked_ms
    from api_keys where account_id = ${accountId} and id = any(${[...ids]}::text[])`;
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    hint: row.hint,
    scopes: shownScopes(row.scopes),
    ...(row.resource !== null && { resource: row.resource }),
    ...(row.used_ms !== null && { lastUsedAt: new Date(row.used_ms) }),
    createdAt: new Date(row.created_ms),
    ...(row.expires_ms !== null && { expiresAt: new Date(row.expires_ms) }),
    ...(row.revoked_ms !== null && { revokedAt: new Date(row.revoked_ms) }),
  }));
}

/** Epoch milliseconds by key. Nodes that write at the same time keep the later one. */
export async function recordKeyUses(
  sql: Sql,
  uses: readonly (readonly [keyId: string, atMs: number])[],
): Promise<void> {
  const ordered = uses.toSorted(([a], [b]) => (a < b ? -1 : 1));
  await sql`
    with used as (
      select k.id, t.at from unnest(
        ${ordered.map(([id]) => id)}::text[], ${ordered.map(([, atMs]) => atMs / 1000)}::float8[]
      ) as x(id, seconds) cross join lateral (select to_timestamp(x.seconds) as at) as t
      join api_keys k on k.id = x.id and (k.last_used_at is null or k.last_used_at < t.at)
      order by k.id for update of k
    )
    update api_keys k set last_used_at = used.at from used where k.id = used.id`;
}

/**
 * Throws FORBIDDEN if the member may not make keys at this moment. The account must be locked. A
 * principal may be five seconds old, and a key that it makes would stay.
 */
async function requireKeyRight(tx: Transaction, accountId: string, userId: string): Promise<void> {
  const [may] = await tx`
    select from memberships
    where account_id = ${accountId} and user_id = ${userId} and role = any(${rolesWith('keys')}::text[])`;
  if (may === undefined)
    throw new HeadwaterError('FORBIDDEN', 'Your role in this account does not include its API keys');
}

/** Revoked and expired keys are shown for a while, the newest ones. */
const KEPT_ENDED_KEYS = 100;

/** Links are made for each visit of a customer: they take no room from the keys of programs. */
async function requirePortalRoom(tx: Transaction, accountId: string): Promise<void> {
  await lockAccount(tx, accountId);
  const [row] = await tx<{ used: number }[]>`
    select count(*)::int4 as used from api_keys
    where account_id = ${accountId} and of_portal and revoked_at is null and expires_at > now()`;
  const limit = platformLimit('maxPortalLinks', (row?.used ?? 0) + 1);
  if (limit.used > limit.value) throw overLimit(limit);
}

/**
 * Throws CONFLICT where the account has as many keys as it may have. `isOfMember`: a member makes
 * it.
 */
export async function createApiKey(
  sql: Sql,
  key: ApiKeyRow,
  limits: Pick<AccountLimits, 'maxApiKeys'>,
  isOfMember: boolean,
): Promise<Date> {
  const { accountId } = key;
  return sql.begin(async (tx) => {
    if (key.isOfPortal === true) await requirePortalRoom(tx, accountId);
    else await requireRoom(tx, accountId, limits, 'maxApiKeys');
    if (isOfMember) await requireKeyRight(tx, accountId, key.userId);
    await tx`
      delete from api_keys where account_id = ${accountId} and id in (
        select id from api_keys where account_id = ${accountId} and (revoked_at is not null or expires_at <= now())
        order by least(revoked_at, expires_at) desc, id desc offset ${KEPT_ENDED_KEYS})`;
    return insertApiKey(tx, key);
  });
}

/**
 * Makes a key of the account valid again. Answers the account that has the key, whichever that is;
 * undefined: none.
 */
export async function restoreApiKey(
  tx: Sql | Transaction,
  keyHash: Uint8Array,
  accountId: string,
): Promise<string | undefined> {
  await tx`update api_keys set revoked_at = null where key_hash = ${keyHash} and account_id = ${accountId}`;
  const [row] = await tx<{ account_id: string }[]>`select account_id from api_keys where key_hash = ${keyHash}`;
  return row?.account_id;
}

export type RevokeOutcome = { kind: 'revoked'; keyHash: string } | { kind: 'not-found' } | { kind: 'last-key' };

/** Idempotent for a key that is revoked already. `keyHash` in base64. */
export async function revokeApiKey(sql: Sql, accountId: string, id: string): Promise<RevokeOutcome> {
  // Postgres text cannot hold NUL, so no id has one.
  if (id.includes('\0')) return { kind: 'not-found' };
  return sql.begin(async (tx): Promise<RevokeOutcome> => {
    // Two calls that revoke the last two keys would each see the other's as still there.
    await tx`select from accounts where id = ${accountId} for update`;
    const [key] = await tx<{ hash: string; revoked: boolean; is_limited: boolean; others: number }[]>`
      select encode(k.key_hash, 'base64') as hash, k.revoked_at is not null as revoked,
        k.expires_at is not null or not 'full' = any(k.scopes) as is_limited,
        (select count(*)::int4 from api_keys o
          where o.account_id = k.account_id and o.id <> k.id and o.revoked_at is null
            and o.expires_at is null and 'full' = any(o.scopes)) as others
      from api_keys k where k.account_id = ${accountId} and k.id = ${id}`;
    if (key === undefined) return { kind: 'not-found' };
    if (!key.revoked && !key.is_limited && key.others === 0) return { kind: 'last-key' };
    await tx`
      update api_keys set revoked_at = now()
      where account_id = ${accountId} and id = ${id} and revoked_at is null`;
    // A leaked key may have invited.
    await tx`delete from invitations where account_id = ${accountId} and invited_by = ${id}`;
    return { kind: 'revoked', keyHash: key.hash };
  });
}

export interface RotatedKey {
  /** The hash of the key that ends, in base64. */
  keyHash: string;
}

/**
 * Makes a new key with the rights of key `id`. The old key ends after `overlapHours`, or at its own
 * expiry if that is sooner. Returns undefined if `id` names no valid key. Throws CONFLICT if the
 * account is at maxApiKeys.
 */
export async function rotateApiKey(
  sql: Sql,
  {
    accountId,
    userId,
    isOfMember,
    id,
    overlapHours,
    next,
  }: {
    accountId: string;
    /** Maker of the new key. */
    userId: string;
    /** A member asks, and no key. */
    isOfMember: boolean;
    id: string;
    overlapHours: number;
    next: { id: string; hash: Uint8Array; hint: string };
  },
  limits: Pick<AccountLimits, 'maxApiKeys'>,
): Promise<RotatedKey | undefined> {
  return sql.begin(async (tx) => {
    await requireRoom(tx, accountId, limits, 'maxApiKeys');
    if (isOfMember) await requireKeyRight(tx, accountId, userId);
    const made = await tx`
      insert into api_keys (id, account_id, user_id, name, key_hash, hint, scopes, expires_at, resource)
      select ${next.id}, account_id, ${userId}, name, ${next.hash}, ${next.hint}, scopes, expires_at, resource
      from api_keys where account_id = ${accountId} and id = ${id} and revoked_at is null
        and (expires_at is null or expires_at > now())
      returning id`;
    if (made.length === 0) return undefined;
    const [row] = await tx<{ keyHash: string }[]>`
      update api_keys set expires_at = least(expires_at, now() + make_interval(hours => ${overlapHours}::int4))
      where account_id = ${accountId} and id = ${id} returning encode(key_hash, 'base64') as "keyHash"`;
    return row;
  });
}
