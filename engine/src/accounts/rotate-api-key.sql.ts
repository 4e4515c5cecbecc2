import type { AccountLimits } from '@headwater/shared';
import type { Sql } from '../db/database.ts';
import { requireKeyRight } from './require-key-right.sql.ts';
import { requireRoom } from './require-room.sql.ts';

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
