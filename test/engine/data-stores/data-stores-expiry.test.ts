import { newId } from '@headwater/shared';
import { beforeEach, expect, test } from 'vitest';
import { deleteExpiredRecords } from '../../../engine/src/data-stores/delete-records.sql.ts';
import { setDataStoreRecord } from '../../../engine/src/data-stores/data-store-records.sql.ts';
import { accountDatabase } from '../../support/account-database.ts';

/** As in delete-expired-records.ts. */
const STORE_RECORDS = 1_000;
const TURN_RECORDS = 4_000;

const world = accountDatabase();
beforeEach(async () => {
  await sql()`delete from data_stores`;
});

const sql = () => world.sql;

/** A store with one permanent record and `expired` expired ones, with its sizes. */
async function store(expired: number, value = '1'): Promise<string> {
  const id = newId('dataStore');
  await sql()`insert into data_stores (id, account_id, name) values (${id}, ${world.accountId}, ${id})`;
  await sql()`
    insert into data_store_records (store_id, key, account_id, value, expires_at)
    select ${id}, 'k' || n, ${world.accountId}, ${value}, case when n > 0 then now() - make_interval(secs => n) end
    from generate_series(0, ${expired}::int) n`;
  await sql()`
    update data_stores set (record_count, bytes) = (
      select count(*), sum(octet_length(key) + octet_length(value) + 64) from data_store_records where store_id = ${id}
    ) where id = ${id}`;
  return id;
}

/** Number of remaining records, as the store counts them; throws if a counter is wrong. */
async function left(id: string): Promise<number> {
  const [row] = await sql()<{ record_count: number; bytes: number; is_count: number; is_bytes: number }[]>`
    select record_count, bytes, r.* from data_stores, lateral (
      select count(*) as is_count, sum(octet_length(key) + octet_length(value) + 64)::int8 as is_bytes
      from data_store_records where store_id = id
    ) as r where id = ${id}`;
  expect([row?.record_count, row?.bytes]).toEqual([row?.is_count, row?.is_bytes]);
  return row?.record_count ?? 0;
}

test('a turn deletes a bounded part of what has expired, of one store and of all, and turns delete everything', async () => {
  const ids = await Promise.all(Array.from({ length: 6 }, () => store(2_500)));
  const all = async () => (await Promise.all(ids.map(left))).reduce((sum, n) => sum + n, 0);
  await deleteExpiredRecords(sql());
  for (const id of ids) expect(await left(id)).toBeGreaterThanOrEqual(2_501 - STORE_RECORDS);
  const after = await all();
  expect(after).toBeLessThan(6 * 2_501);
  expect(after).toBeGreaterThanOrEqual(6 * 2_501 - TURN_RECORDS);
  for (let turns = 0; turns < 10; turns++) await deleteExpiredRecords(sql());
  expect(await all()).toBe(6);
});

test('large records are deleted a few at a time', async () => {
  const id = await store(90, 'x'.repeat(1024 * 1024));
  await deleteExpiredRecords(sql());
  const after = await left(id);
  expect(after).toBeLessThan(91);
  expect(after).toBeGreaterThan(50);
});

test('a store that is being written is left for later, and the others are not', async () => {
  const [held, free] = [await store(10), await store(10)];
  await sql().begin(async (tx) => {
    await tx`select from data_stores where id = ${held} for no key update`;
    await deleteExpiredRecords(sql());
    expect([await left(held), await left(free)]).toEqual([11, 1]);
  });
  await deleteExpiredRecords(sql());
  expect(await left(held)).toBe(1);
});

test('a write into a full store deletes as many expired records as it needs, the oldest first', async () => {
  const id = await store(5_000);
  const bytes = await bytesOf(id);
  const set = (value: string, maxDataStoreRecords: number) =>
    setDataStoreRecord(
      sql(),
      world.accountId,
      id,
      { key: 'new', value },
      { maxDataStoreRecords, maxDataStoreBytes: bytes },
    );
  expect(await set('1', 5_001)).toMatchObject({ kind: 'set' });
  expect(await left(id)).toBe(5_002 - STORE_RECORDS);
  const [{ youngest } = { youngest: 0 }] = await sql()<{ youngest: number }[]>`
    select count(*) as youngest from data_store_records where store_id = ${id} and key in ('k1', 'k4000')`;
  expect(youngest).toBe(2);
  // Larger than all that has expired in one turn.
  expect(await set(JSON.stringify('x'.repeat(bytes / 2)), 5_001)).toMatchObject({ kind: 'set' });
  expect(await left(id)).toBe(5_002 - 3 * STORE_RECORDS);
  expect(await set(JSON.stringify('x'.repeat(bytes)), 5_001)).toMatchObject({ limit: { name: 'maxDataStoreBytes' } });
  // Expired records are deleted all the same.
  expect(await left(id)).toBe(2);
});

async function bytesOf(id: string): Promise<number> {
  const [row] = await sql()<{ bytes: number }[]>`select bytes from data_stores where id = ${id}`;
  return row?.bytes ?? 0;
}
