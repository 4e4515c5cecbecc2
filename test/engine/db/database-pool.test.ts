import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../engine/src/db/database.ts';
import { hostUrlsOf } from '../../../engine/src/db/database-hosts.ts';
import { databaseOfTests } from '../../support/database-of-tests.ts';

const database = databaseOfTests();
let db: Database;
beforeAll(async () => {
  db = openDatabase({ url: database.url, maxConnections: 2 });
  await db.sql`create table counters (id int primary key, value int not null)`;
});
afterAll(() => db.close());

test('arrays of all kinds come back as they were given', async () => {
  const { sql } = db;
  const texts = ['plain', '', 'NULL', 'null', ' a ', '"q"', 'a\\b', '{x}', 'a,b', 'ü\n', null];
  const [row] = await sql`
    select ${texts}::text[] as texts, ${[1, 2, null]}::int8[] as numbers, ${[[1, 2]]}::int4[] as nested,
      ${[]}::text[] as none, array[true, false] as bools, ${[0.5]}::float8[] as floats,
      array['a"b'::bytea] as bytes, ${['invocations']}::regclass[]::text[] as classes,
      array['{"a": [1, "x"]}'::jsonb] as json`;
  expect(row).toEqual({
    texts,
    numbers: [1, 2, null],
    nested: [[1, 2]],
    none: [],
    bools: [true, false],
    floats: [0.5],
    bytes: [Buffer.from('a"b')],
    classes: ['invocations'],
    json: [{ a: [1, 'x'] }],
  });
  await expect(sql`select ${[undefined] as unknown as string[]}::text[]`).rejects.toMatchObject({
    code: 'UNDEFINED_VALUE',
  });
  expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
});

test('two transactions in a deadlock both go through', async () => {
  const { sql } = db;
  await sql`insert into counters select id, 0 from generate_series(1, 2) as id on conflict (id) do update set value = 0`;
  const { promise: bothHold, resolve: nowBothHold } = Promise.withResolvers<void>();
  let begun = 0;
  const add = (first: number, second: number) =>
    sql.begin(async (tx) => {
      await tx`update counters set value = value + 1 where id = ${first}`;
      if (++begun === 2) nowBothHold();
      await bothHold;
      await tx`update counters set value = value + 1 where id = ${second}`;
    });
  await Promise.all([add(1, 2), add(2, 1)]);
  expect(begun).toBeGreaterThan(2);
  expect(await sql`select value from counters order by id`).toEqual([{ value: 2 }, { value: 2 }]);
});

test('a statement alone that is chosen to give way in a deadlock is made once more', async () => {
  const { sql } = db;
  await sql`insert into counters select id, 0 from generate_series(1, 2) as id on conflict (id) do update set value = 0`;
  // The statement waits for a lock of the transaction, and detects the deadlock first.
  await sql`
    create or replace function add_both(names text[]) returns void language plpgsql as $$ begin
      update counters set value = value + 1 where id = 2;
      perform pg_sleep(0.2);
      update counters set value = value + 1 where id = 1;
    end $$`;
  const transaction = sql.begin(async (tx) => {
    await tx`set local deadlock_timeout = '20s'`;
    await tx`update counters set value = value + 10 where id = 1`;
    await tx`select pg_sleep(0.1)`;
    await tx`update counters set value = value + 10 where id = 2`;
  });
  await Promise.all([transaction, sql`select add_both(${['a', 'b"']}::text[])`]);
  expect(await sql`select value from counters order by id`).toEqual([{ value: 11 }, { value: 11 }]);
});

test('a transaction that could not make a statement leaves a connection that answers', async () => {
  const { sql } = db;
  for (let round = 0; round < 3; round++) {
    const failed = sql.begin((tx) => [tx`select pg_sleep(0.05)`, tx`select ${undefined as unknown as string}`]);
    await expect(failed).rejects.toMatchObject({ code: 'UNDEFINED_VALUE' });
    expect(await sql.begin((tx) => [tx`select 1 as one`, tx`select 2 as two`])).toEqual([[{ one: 1 }], [{ two: 2 }]]);
  }
});

test('a transaction settles when its connection is lost while it waits for something else', async () => {
  const { sql } = db;
  const waits = sql.begin(async (tx) => {
    const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
    await sql`select pg_terminate_backend(${row?.pid ?? 0})`;
    await new Promise(() => undefined);
  });
  await expect(waits).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
});

test('queries that wait for a connection when the pool is closed reject', async () => {
  const closing = openDatabase({ url: database.url, maxConnections: 1 });
  const held = await closing.sql.reserve();
  const waiting = [closing.sql`select 1`, closing.sql.begin((tx) => tx`select 1`), closing.sql.reserve()];
  const outcomes = Promise.allSettled(waiting);
  const closed = closing.close();
  const reason = { code: 'CONNECTION_ENDED' };
  expect(await outcomes).toMatchObject(waiting.map(() => ({ status: 'rejected', reason })));
  held.release();
  await closed;
});

test('a URL may name several hosts, each with a port or without', () => {
  const hosts = (url: string) => hostUrlsOf(url);
  expect(hosts('postgres://u:p%40@a:1,b/db?sslmode=require')).toEqual([
    'postgres://u:p%40@a:1/db?sslmode=require',
    'postgres://u:p%40@b/db?sslmode=require',
  ]);
  expect(hosts('postgres://a/db?target_session_attrs=primary')).toEqual(['postgres://a/db']);
});
