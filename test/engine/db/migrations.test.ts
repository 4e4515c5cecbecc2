import { cp, mkdtemp, rm, writeFile, appendFile, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import postgres from 'postgres';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { migrate } from '../../../engine/src/db/server/migrate.ts';
import * as schema from '../../../engine/src/db/schema.ts';
import { createEmptyDatabase, createTestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/logs.ts';

const REAL_DIR = fileURLToPath(new URL('../../../migrations', import.meta.url));

let dir: string;
let database: { url: string; drop(): Promise<void> };

beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'headwater-migrations-'));
  await cp(REAL_DIR, dir, { recursive: true });
  database = await createEmptyDatabase();
});

afterEach(async () => {
  await database.drop();
  await rm(dir, { recursive: true, force: true });
});

const run = (migrationsDir = dir) => migrate({ url: database.url, log: testLog, migrationsDir });

async function query<T>(work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(database.url, { max: 1, onnotice: () => undefined });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}

const recorded = () =>
  query(async (sql) =>
    (await sql<{ name: string }[]>`select name from headwater_migrations order by name`).map((r) => r.name),
  );

test('all files are applied once, in order, and graphile-worker is there', async () => {
  await writeFile(path.join(dir, '9001_second.sql'), 'create table second (id int); insert into second values (1);');
  await writeFile(path.join(dir, 'notes.txt'), 'this is not SQL');
  const files = (await readdir(dir)).filter((name) => name.endsWith('.sql')).sort();
  expect(await run()).toEqual(files);
  expect(await run()).toEqual([]);
  expect(await recorded()).toEqual(files);
  const [count] = await query((sql) => sql<{ n: number }[]>`select count(*)::int as n from second`);
  expect(count?.n).toBe(1);
  await query((sql) => sql`select graphile_worker.add_job('any', '{}'::json)`);
});

test('nodes that start at the same time migrate once', async () => {
  const applied = await Promise.all([run(), run(), run()]);
  expect(applied.flat()).toEqual(await recorded());
});

test('a file that was changed after it had been applied is refused', async () => {
  await run();
  const [first] = await readdir(dir);
  await appendFile(path.join(dir, first ?? ''), '\n-- one more line');
  await expect(run()).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining(`${first}`) });
});

test('a database of a newer version is refused', async () => {
  await writeFile(path.join(dir, '9001_newer.sql'), 'create table newer (id int);');
  await run();
  await expect(run(REAL_DIR)).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('newer') });
});

test('a migration that waits for a table in use lets others use it meanwhile', async () => {
  await writeFile(path.join(dir, '9001_table.sql'), 'create table busy (id int);');
  await run();
  await writeFile(path.join(dir, '9002_column.sql'), 'alter table busy add column more int;');
  let migrating: Promise<string[]> | undefined;
  await query((sql) =>
    sql.begin(async (tx) => {
      await tx`select from busy`;
      migrating = migrate({ url: database.url, log: testLog, migrationsDir: dir, maxLockMs: 50 });
      await query(async (other) => {
        const isWaiting = () => other`select from pg_locks where relation = 'busy'::regclass and not granted`;
        await eventually(async () => (await isWaiting()).length > 0);
        await other`select from busy`;
      });
    }),
  );
  expect(await migrating).toEqual(['9002_column.sql']);
});

test('a file that fails leaves nothing of itself behind', async () => {
  await writeFile(path.join(dir, '9001_broken.sql'), 'create table half (id int); select 1 / 0;');
  await expect(run()).rejects.toThrow(/9001_broken\.sql failed: division by zero/);
  expect(await recorded()).not.toContain('9001_broken.sql');
  await writeFile(path.join(dir, '9001_broken.sql'), 'create table half (id int);');
  expect(await run()).toEqual(['9001_broken.sql']);
});

test('the tables that the code names are those of the migrations', async () => {
  const testDatabase = await createTestDatabase();
  try {
    for (const table of Object.values(schema).filter((value) => is(value, PgTable))) {
      const rows = await testDatabase.db.sql<{ column_name: string; is_nullable: string; is_view: boolean }[]>`
        select column_name, is_nullable, table_type = 'VIEW' as is_view
        from information_schema.columns join information_schema.tables using (table_schema, table_name)
        where table_schema = 'public' and table_name = ${getTableName(table)}`;
      // Postgres does not know which columns of a view may be null.
      const isView = rows[0]?.is_view === true;
      const shown = (name: string, notNull: boolean) => (isView ? name : `${name} ${notNull}`);
      const columns = Object.values(getTableColumns(table)).map((column) => shown(column.name, column.notNull));
      const real = rows.map((row) => shown(row.column_name, row.is_nullable === 'NO'));
      expect({ table: getTableName(table), missing: columns.filter((column) => !real.includes(column)) }).toEqual({
        table: getTableName(table),
        missing: [],
      });
    }
  } finally {
    await testDatabase.drop();
  }
});

test('long texts of runs are kept as they are, or as lz4 makes them', async () => {
  const testDatabase = await createTestDatabase();
  try {
    const { sql } = testDatabase.db;
    const text = 'a text that gets shorter. '.repeat(10_000);
    await sql`insert into component_db (source_id, key, account_id, value) values ('dc_x', 'k', 'acc_x', ${text})`;
    const [row] = await sql<{ method: string | null; is_external: boolean }[]>`
      select pg_column_compression(value) as method, pg_column_size(value) = octet_length(value) as is_external from component_db`;
    const isKept = row?.method === 'lz4' || (row?.method === null && row.is_external);
    expect(isKept).toBe(true);
    const pglz = await sql<{ place: string }[]>`
      select attrelid::regclass || '.' || attname as place from pg_attribute
      where attrelid = any(${['events', 'executions', 'execution_steps', 'invocations', 'runs', 'sends']}::regclass[])
        and attname = any(${['data', 'event', 'context', 'value', 'exports', 'logs', 'payload']}::text[])
        and attstorage <> 'e' and attcompression <> 'l'`;
    expect(pglz).toEqual([]);
  } finally {
    await testDatabase.drop();
  }
});

test('dropping a test database fails when a connection to it was left open', async () => {
  const testDatabase = await createTestDatabase();
  const leaked = postgres(testDatabase.url, { max: 1, connection: { application_name: 'leak' } });
  await leaked`select 1`;
  await expect(testDatabase.drop()).rejects.toThrow(/1 connections .* leaked\nleak: select 1/);
  await leaked.end({ timeout: 0 });
});
