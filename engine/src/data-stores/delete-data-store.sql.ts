import type { Sql } from '../db/database.ts';
import { clearDataStore, STORE_SLICE } from './delete-data-store-records.sql.ts';
import { inIndexOrder } from '../events/read-events.sql.ts';

/**
 * Deletes a store with its records; false if it does not exist. A large store is emptied first,
 * again and again while much is written to it. Sources configured with the store fail at their next
 * call to it.
 */
export async function deleteDataStore(sql: Sql, accountId: string, id: string): Promise<boolean> {
  for (;;) {
    const outcome = await deleteSmallStore(sql, accountId, id);
    if (outcome !== 'large') return outcome === 'deleted';
    await clearDataStore(sql, accountId, id);
  }
}

/** One that has no more than a slice. */
async function deleteSmallStore(sql: Sql, accountId: string, id: string): Promise<'deleted' | 'large' | 'absent'> {
  return inIndexOrder(sql, async (tx) => {
    const stores = await tx`
      select from data_stores where account_id = ${accountId} and id = ${id} for no key update`;
    if (stores.length === 0) return 'absent';
    const [beginning] = await tx<{ is_small: boolean }[]>`
      select count(*) <= ${STORE_SLICE.records} and coalesce(sum(octet_length(value)), 0) <= ${STORE_SLICE.bytes} as is_small
      from (
        select value from data_store_records where account_id = ${accountId} and store_id = ${id}
        order by key limit ${STORE_SLICE.records + 1}
      ) as beginning`;
    if (beginning?.is_small !== true) return 'large';
    await tx`delete from data_stores where account_id = ${accountId} and id = ${id}`;
    return 'deleted';
  });
}
