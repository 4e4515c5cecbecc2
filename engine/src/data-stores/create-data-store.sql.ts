import type { Database } from '../db/database.ts';
import type { DataStoreRow } from './read-data-stores.sql.ts';
import { accounts, dataStores } from '../db/schema.ts';
import { count, eq } from '../db/drizzle.ts';

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
