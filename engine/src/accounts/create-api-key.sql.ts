import { type AccountLimits, platformLimit } from '@headwater/shared';
import type { Sql, Transaction } from '../db/database.ts';
import { type ApiKeyRow, insertApiKey } from './insert-api-key.sql.ts';
import { overLimit } from './over-limit.ts';
import { requireKeyRight } from './require-key-right.sql.ts';
import { lockAccount, requireRoom } from './require-room.sql.ts';

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
