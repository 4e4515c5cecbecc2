import type { DataStoreUpdate } from '../contract/index.ts';
import { accounts, and, count, type Database, dataStores, eq, inArray, type Sql, sql as drizzle } from '../db/index.ts';
import { inIndexOrder } from '../events/index.ts';
import { clearDataStore, STORE_SLICE } from './delete-records.sql.ts';

export type DataStoreRow = typeof dataStores.$inferSelect;

/** Those of `ids` that are the account's, in no order. */
export async function readDataStores(db: Database, accountId: string, ids: readonly string[]): Promise<DataStoreRow[]> {
  return db.orm
    .select()
    .from(dataStores)
    .where(and(eq(dataStores.accountId, accountId), inArray(dataStores.id, [...ids])));
}

/** Which of `ids` are stores of the account. */
export async function findDataStores(sql: Sql, accountId: string, ids: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select id from data_stores where account_id = ${accountId} and id = any(${[...ids]}::text[])`;
  return new Set(rows.map(({ id }) => id));
}

/** `full`: the account is at its limit and has `stores` of them. */
export async function createDataStore(
  db: Database,
  store: { id: string; accountId: string; name: string; description: string | null },
  maxStores: number,
): Promise<{ kind: 'created'; row: DataStoreRow } | { kind: 'full'; stores: number }> {
  return db.orm.transaction(async (tx) => {
    // Two that are made at the same time are counted one after the other.
    await tx.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, store.accountId)).for('no key update');
    const [counted] = await tx
      .select({ stores: count() })
      .from(dataStores)
      .where(eq(dataStores.accountId, store.accountId));
    const stores = counted?.stores ?? 0;
    if (stores >= maxStores) return { kind: 'full', stores };
    const [row] = await tx.insert(dataStores).values(store).returning();
    return { kind: 'created', row: row as DataStoreRow };
  });
}

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

/**
 * Changes the fields given; an empty description is removed. Undefined where the account has no
 * such store.
 */
export async function updateDataStore(
  db: Database,
  accountId: string,
  id: string,
  change: DataStoreUpdate,
): Promise<DataStoreRow | undefined> {
  const [row] = await db.orm
    .update(dataStores)
    .set({
      ...(change.name === undefined ? {} : { name: change.name }),
      ...(change.description === undefined ? {} : { description: change.description || null }),
      updatedAt: drizzle`now()`,
    })
    .where(and(eq(dataStores.accountId, accountId), eq(dataStores.id, id)))
    .returning();
  return row;
}
