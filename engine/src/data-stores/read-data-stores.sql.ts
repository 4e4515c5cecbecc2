import { and, eq, inArray } from '../db/drizzle.ts';
import type { Database, Sql } from '../db/database.ts';
import { dataStores } from '../db/schema.ts';

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
