import { randomToken } from '@headwater/shared';
import postgres from 'postgres';
import { openDatabase, type Database } from '../../engine/src/db/database.ts';
import { eventually } from './eventually.ts';

export const TEST_SERVER_VARIABLE = 'HEADWATER_TEST_DATABASE_URL';
export const TEMPLATE_DATABASE = 'headwater_template';
/**
 * `file_copy` if files are in memory: it takes a third of the time of the default. Versions before
 * 15 lack it.
 */
export const CLONE_STRATEGY_VARIABLE = 'HEADWATER_TEST_CLONE_STRATEGY';

const CLONE_LOCK = 4_815_162_344;
const LEAK_TIMEOUT_MS = 1_500;

export interface TestDatabase {
  url: string;
  db: Database;
  /**
   * Closes `db` and removes the database. Throws when a connection of the test is still open:
   * something was not stopped.
   */
  drop(): Promise<void>;
}

/** A migrated database of the test's own, cloned from the run's template. */
export async function createTestDatabase(options: { maxConnections?: number } = {}): Promise<TestDatabase> {
  const name = `test_${randomToken(10).toLowerCase()}`;
  const url = databaseUrl(name);
  await asAdmin(async (sql) => {
    // Copies one after the other: the machine is no faster at two.
    await sql`select pg_advisory_lock(${CLONE_LOCK}::bigint)`;
    const how = process.env[CLONE_STRATEGY_VARIABLE] === 'file_copy' ? sql`strategy file_copy` : sql``;
    await sql`create database ${sql(name)} template ${sql(TEMPLATE_DATABASE)} ${how}`;
  });
  const db = openDatabase({ url, ...options });
  return { url, db, drop: () => dropDatabase(name, db) };
}

/**
 * An empty database, for tests of the migrations. The caller has closed its connections when it
 * calls drop.
 */
export async function createEmptyDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomToken(10).toLowerCase()}`;
  await asAdmin((sql) => sql`create database ${sql(name)}`);
  return { url: databaseUrl(name), drop: () => dropDatabase(name) };
}

async function dropDatabase(name: string, db?: Database): Promise<void> {
  await db?.close();
  await asAdmin(async (sql) => {
    const open = () => sql<{ application_name: string; query: string }[]>`
      select application_name, query from pg_stat_activity where datname = ${name} and backend_type = 'client backend'`;
    let left = await open();
    try {
      await eventually(async () => (left = await open()).length === 0, { timeoutMs: LEAK_TIMEOUT_MS });
    } catch (cause) {
      const who = left.map((row) => `${row.application_name || '?'}: ${row.query.trim().slice(0, 120)}`);
      throw new Error(`${left.length} connections to ${name} leaked\n${who.join('\n')}`, { cause });
    } finally {
      await sql`drop database if exists ${sql(name)} with (force)`;
    }
  });
}

function databaseUrl(name: string): string {
  const url = new URL(serverUrl());
  url.pathname = `/${name}`;
  return url.href;
}

/** URL of the test run's database server, as superuser. */
export function serverUrl(): string {
  const url = process.env[TEST_SERVER_VARIABLE];
  if (url === undefined)
    throw new Error(`${TEST_SERVER_VARIABLE} is not set: test/support/global-setup.ts did not run`);
  return url;
}

async function asAdmin(work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(serverUrl(), { max: 1, onnotice: () => undefined });
  try {
    await work(sql);
  } finally {
    await sql.end();
  }
}
