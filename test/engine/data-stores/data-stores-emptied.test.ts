import { newId } from '@headwater/shared';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Sql } from '../../../engine/src/db/database.ts';
import { clearDataStore, STORE_SLICE } from '../../../engine/src/data-stores/delete-records.sql.ts';
import { deleteDataStore } from '../../../engine/src/data-stores/data-stores.sql.ts';
import { setDataStoreRecord } from '../../../engine/src/data-stores/data-store-records.sql.ts';
import { accountDatabase } from '../../support/account-database.ts';
import { eventually } from '../../support/eventually.ts';
import { type WatchedTransactions, watchTransactions } from '../../support/watch-transactions.ts';

const MB = 1024 * 1024;
const NO_LIMITS = { maxDataStoreRecords: 1e9, maxDataStoreBytes: 1e12 };

const world = accountDatabase();
let sql: Sql;
let deletes: WatchedTransactions;
beforeAll(async () => {
  ({ sql } = world);
  deletes = await watchTransactions(sql, 'data_store_records', 'delete');
});
beforeEach(() => deletes.forget());

/** With the keys `k0000001` and so on, and its sizes. */
async function store(records: number, value = '1'): Promise<string> {
  const id = newId('dataStore');
  await sql`insert into data_stores (id, account_id, name) values (${id}, ${world.accountId}, ${id})`;
  await sql`
    insert into data_store_records (store_id, key, account_id, value)
    select ${id}, 'k' || lpad(n::text, 7, '0'), ${world.accountId}, ${value} from generate_series(1, ${records}::int) n`;
  await sql`
    update data_stores set (record_count, bytes) = (
      select count(*), sum(octet_length(key) + octet_length(value) + 64) from data_store_records where store_id = ${id}
    ) where id = ${id}`;
  return id;
}

/** Keys that are left; the store's count and size are those of its records. */
async function left(id: string): Promise<string[]> {
  const [row] = await sql<{ record_count: number; bytes: number; keys: string[]; is_bytes: number }[]>`
    select record_count, s.bytes, r.* from data_stores s, lateral (
      select coalesce(array_agg(key order by key), '{}') as keys,
        coalesce(sum(octet_length(key) + octet_length(value) + 64), 0)::int8 as is_bytes
      from data_store_records where store_id = s.id
    ) as r where id = ${id}`;
  expect([row?.record_count, row?.bytes]).toEqual([row?.keys.length, row?.is_bytes]);
  return row?.keys ?? [];
}

const set = (id: string, key: string) => setDataStoreRecord(sql, world.accountId, id, { key, value: '1' }, NO_LIMITS);

test('a store is emptied in slices of records', async () => {
  const id = await store(2 * STORE_SLICE.records + 500);
  expect(await clearDataStore(sql, world.accountId, id)).toBe(true);
  expect(await left(id)).toEqual([]);
  expect(await deletes.rows()).toEqual([STORE_SLICE.records, STORE_SLICE.records, 500]);
  expect(await clearDataStore(sql, world.accountId, id)).toBe(true);
});

test('and of bytes', async () => {
  const id = await store(40, 'x'.repeat(MB));
  await clearDataStore(sql, world.accountId, id);
  expect(await left(id)).toEqual([]);
  expect(await deletes.rows()).toEqual([16, 16, 8]);
});

test('a write has its turn between two slices, and a record behind the last key stays', async () => {
  const id = await store(20 * STORE_SLICE.records);
  const [clearing, during] = [clearDataStore(sql, world.accountId, id), eventually(async () => begunAndNotEnded(id))];
  await during;
  await set(id, 'z');
  await set(id, 'k0000000');
  expect((await left(id)).length).toBeGreaterThan(2);
  await clearing;
  expect(await left(id)).toEqual(['k0000000', 'z']);
});

async function begunAndNotEnded(id: string): Promise<boolean> {
  const [row] = await sql`select record_count from data_stores where id = ${id}`;
  return row?.['record_count'] < 20 * STORE_SLICE.records && row?.['record_count'] > 0;
}

test('records deleted before a failure stay deleted, and the same call goes on', async () => {
  const id = await store(3 * STORE_SLICE.records);
  await sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'not this one'; end $$;
    create trigger refuse before delete on data_store_records for each row when (old.key = 'k0001500') execute function refuse();`);
  for (const work of [clearDataStore, deleteDataStore]) {
    await expect(work(sql, world.accountId, id)).rejects.toThrow('not this one');
    expect((await left(id)).length).toBe(2 * STORE_SLICE.records);
  }
  await sql`drop function refuse cascade`;
  await clearDataStore(sql, world.accountId, id);
  expect(await left(id)).toEqual([]);
});

test('a large store is emptied before it is deleted, and what is set meanwhile goes with it', async () => {
  const id = await store(20 * STORE_SLICE.records);
  const deleting = deleteDataStore(sql, world.accountId, id);
  await eventually(async () => begunAndNotEnded(id));
  await set(id, 'z');
  expect(await deleting).toBe(true);
  expect(await set(id, 'z')).toEqual({ kind: 'absent' });
  expect(await sql`select from data_store_records where store_id = ${id}`).toHaveLength(0);
  const [most = Infinity] = await deletes.rows();
  expect(most).toBeLessThanOrEqual(STORE_SLICE.records);
});

test('nothing is deleted of another account', async () => {
  const id = await store(3);
  expect(await clearDataStore(sql, 'o_other', id)).toBe(false);
  expect(await deleteDataStore(sql, 'o_other', id)).toBe(false);
  expect(await left(id)).toHaveLength(3);
});
