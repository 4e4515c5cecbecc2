import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDataStoreCalls } from '../../../engine/src/data-stores/run-calls.ts';
import { type Database, openDatabase } from '../../../engine/src/db/database.ts';
import { accountLimits, LIMITS } from '../../../shared/src/index.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { insertAccount } from '../../support/source-rows.ts';

let database: TestDatabase;
/** One connection, because statistics of reads are per connection. */
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase({ url: database.url, maxConnections: 1 });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

/** Pages of values that are stored apart from their rows. */
async function valuePagesRead(): Promise<number> {
  await db.sql`select pg_stat_force_next_flush()`;
  const [read] = await db.sql<{ pages: number }[]>`
    select (toast_blks_hit + toast_blks_read)::float8 as pages from pg_statio_user_tables where relname = 'data_store_records'`;
  return read?.pages ?? 0;
}

const LARGE = 1_000_000;
const CALLS = 12;
/** Pause that each large value costs its turn while other accounts are active. */
const PAUSE_MS = ((LARGE - LIMITS.smallValueChars) / LIMITS.dataStoreCharsPerSecond) * 1_000;

test.each(['get', 'entries'] as const)(
  'large answers of %s follow at a pace while others are here, else at once',
  async (op) => {
    const id = await insertAccount(db.sql);
    const storeId = `ds_${op}`;
    await db.sql`insert into data_stores (id, account_id, name) values (${storeId}, ${id}, 'Store')`;
    await db.sql`
    insert into data_store_records (store_id, account_id, key, value)
    values (${storeId}, ${id}, 'large', to_json(repeat('x', ${LARGE}::int4)))`;
    const timeOf = async (hasOthers: boolean) => {
      const calls = createDataStoreCalls(db.sql, () => hasOthers);
      const beganMs = performance.now();
      for (let n = 0; n < CALLS; n++)
        expect(
          await calls({ id, limits: accountLimits() }, { op, storeId, key: 'large' }, new AbortController().signal),
        ).toMatchObject({ ok: true });
      return performance.now() - beganMs;
    };
    const pacedMs = PAUSE_MS * (CALLS / LIMITS.maxDataStoreCallsPerTenant - 1);
    expect(await timeOf(true)).toBeGreaterThan(pacedMs * 0.95);
    expect(await timeOf(false)).toBeLessThan(pacedMs);
  },
);

test('whether there is a record is answered without reading its value', async () => {
  const id = await insertAccount(db.sql);
  await db.sql`insert into data_stores (id, account_id, name) values ('ds_1', ${id}, 'Store')`;
  const calls = createDataStoreCalls(db.sql, () => true);
  const ask = (op: 'get' | 'has' | 'set', key: string, more: { storeId?: string; valueJson?: string } = {}) =>
    calls({ id, limits: accountLimits() }, { op, storeId: 'ds_1', key, ...more }, new AbortController().signal);
  expect(await ask('set', 'large', { valueJson: `"${'x'.repeat(500_000)}"` })).toEqual({ ok: true });
  await db.sql`insert into data_store_records (store_id, account_id, key, value, expires_at)
    values ('ds_1', ${id}, 'over', '1', now() - interval '1 second')`;
  const before = await valuePagesRead();
  expect(await ask('has', 'large')).toEqual({ ok: true, json: 'true' });
  expect(await ask('has', 'none')).toEqual({ ok: true, json: 'false' });
  expect(await ask('has', 'over')).toEqual({ ok: true, json: 'false' });
  expect(await ask('has', 'large', { storeId: 'ds_2' })).toMatchObject({
    ok: false,
    message: expect.stringMatching('ds_2'),
  });
  expect(await valuePagesRead()).toBe(before);
  await ask('get', 'large');
  expect(await valuePagesRead()).toBeGreaterThan(before);
});
