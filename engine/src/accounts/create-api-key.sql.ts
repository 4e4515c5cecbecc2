import type { AccountLimits } from '@headwater/shared';
import type { Sql } from '../db/database.ts';
import { type ApiKeyRow, insertApiKey } from './insert-api-key.sql.ts';
import { requireRoom } from './require-room.sql.ts';

/** Revoked and expired keys are shown for a while, the newest ones. */
const KEPT_ENDED_KEYS = 100;

/** Throws CONFLICT where the account has as many keys as it may have. */
export async function createApiKey(sql: Sql, key: ApiKeyRow, limits: Pick<AccountLimits, 'maxApiKeys'>): Promise<Date> {
  const { accountId } = key;
  return sql.begin(async (tx) => {
    await requireRoom(tx, accountId, limits, 'maxApiKeys');
    await tx`
      delete from api_keys where account_id = ${accountId} and id in (
        select id from api_keys where account_id = ${accountId} and (revoked_at is not null or expires_at <= now())
        order by least(revoked_at, expires_at) desc, id desc offset ${KEPT_ENDED_KEYS})`;
    return insertApiKey(tx, key);
  });
}
