import { newId, notFound } from '@headwater/shared';
import { type LimitsCache, overLimit } from '../accounts/index.ts';
import { createBoundedTurns, restAfterLongMs } from '../fairness/index.ts';
import type { DataStoreRecord, DataStores, Principal } from '../contract/index.ts';
import {
  createDataStore,
  type DataStoreRow,
  deleteDataStore,
  readDataStores,
  updateDataStore,
} from './data-stores.sql.ts';
import { type Database, inPageOrder, readPage } from '../db/index.ts';
import { createRecords } from './records.ts';

interface DataStoresOptions {
  db: Database;
  limits: Pick<LimitsCache, 'get'>;
}

/** Data stores as the API sees them. */
export function createDataStores(options: DataStoresOptions): DataStores {
  const { db, limits } = options;
  const deletions = createBoundedTurns('maxDeletionsPerTenant', 'deletions of data stores and their records');

  async function find(who: Principal, id: string): Promise<DataStoreRow> {
    const [row] = id.includes('\0') ? [] : await readDataStores(db, who.accountId, [id]);
    if (row === undefined) throw notFound('data store', id);
    return row;
  }

  return {
    async create(who, { name, description }) {
      const { maxDataStores } = await limits.get(who.accountId);
      const store = { id: newId('dataStore'), accountId: who.accountId, name, description: description || null };
      const created = await createDataStore(db, store, maxDataStores);
      if (created.kind === 'created') return recordOf(created.row);
      throw overLimit({ name: 'maxDataStores', value: maxDataStores, used: created.stores + 1 });
    },
    get: async (who, id) => recordOf(await find(who, id)),
    async list(who, request) {
      const query = { table: 'data_stores', accountId: who.accountId, order: 'created' } as const;
      const { ids, ...page } = await readPage(db.sql, query, request);
      const rows = inPageOrder(ids, await readDataStores(db, who.accountId, ids));
      return { ...page, items: rows.map(recordOf) };
    },
    async update(who, id, change) {
      await find(who, id);
      const row = await updateDataStore(db, who.accountId, id, change);
      if (row === undefined) throw notFound('data store', id);
      return recordOf(row);
    },
    async delete(who, id) {
      const remove = async () => !id.includes('\0') && (await deleteDataStore(db.sql, who.accountId, id));
      if (!(await deletions.run(who.accountId, remove, restAfterLongMs))) throw notFound('data store', id);
    },
    ...createRecords({ ...options, find, deletions }),
  };
}

function recordOf(row: DataStoreRow): DataStoreRecord {
  const { id, name, description, recordCount, bytes, createdAt, updatedAt } = row;
  return {
    id,
    name,
    ...(description === null ? {} : { description }),
    recordCount,
    bytes,
    createdAt,
    updatedAt,
  };
}
