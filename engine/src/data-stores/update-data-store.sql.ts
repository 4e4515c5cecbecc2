import { and, eq, sql } from '../db/drizzle.ts';
import type { DataStoreUpdate } from '../contract/data-stores.ts';
import type { Database } from '../db/database.ts';
import type { DataStoreRow } from './read-data-stores.sql.ts';
import { dataStores } from '../db/schema.ts';

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
      updatedAt: sql`now()`,
    })
    .where(and(eq(dataStores.accountId, accountId), eq(dataStores.id, id)))
    .returning();
  return row;
}
