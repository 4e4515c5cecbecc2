import type { AccountLimits } from '@headwater/shared';
import type { Sql } from './database.ts';
import { type ApiKeyRow, insertApiKey } from './insert-api-key.ts';
import { requireRoom } from './require-room.ts';

/** Keys that are revoked are shown for a while; whoever makes and revokes them without end keeps the newest ones. */
const KEPT_REVOKED_KEYS = 100;

/** Throws CONFLICT where the account has as many keys as it may have. */
export async function createApiKey(sql: Sql, key: ApiKeyRow, limits: Pick<AccountLimits, 'maxApiKeys'>): Promise<Date> {
  const { accountId } = key;
  return sql.begin(async (tx) => {
    await requireRoom(tx, accountId, limits, 'maxApiKeys');
    await tx`
      delete from api_keys where account_id = ${accountId} and id in (
        select id from api_keys where account_id = ${accountId} and revoked_at is not null
        order by revoked_at desc, id desc offset ${KEPT_REVOKED_KEYS})`;
    return insertApiKey(tx, key);
  });
}
