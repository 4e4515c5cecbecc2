import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Logger as GraphileLogger, runMigrations } from 'graphile-worker';
import { Pool } from 'pg';
import type postgres from 'postgres';
import { placeOfUrl, postgresAt } from '../postgres-at.ts';
import { HeadwaterError } from '@headwater/shared';
import type { Log } from '../../contract/index.ts';

export interface MigrateOptions {
  url: string;
  log: Log;
  /** Folder of numbered SQL files. Default: the project's own. */
  migrationsDir?: string;
  /** Only these, by name. Default: all. */
  only?: readonly string[];
  /** How long a migration waits for a lock before it lets others pass. Default 2 000. */
  maxLockMs?: number;
}

interface Migration {
  name: string;
  sha256: string;
  body: string;
}

const MIGRATIONS_DIR = fileURLToPath(new URL('../../../../migrations', import.meta.url));
const MIGRATION_LOCK = 4_815_162_343;

/**
 * Brings the database to this code's schema: the numbered files, then graphile-worker's own. Each
 * file in a transaction of its own; nodes that start together wait for each other. Answers the
 * files applied now. Throws CONFLICT when an applied file was changed since, or when the database
 * has been migrated by a newer version.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const { migrationsDir = MIGRATIONS_DIR, only } = options;
  const migrations = (await readMigrations(migrationsDir)).filter(({ name }) => only?.includes(name) ?? true);
  const sql = postgresAt(options.url, {
    max: 1,
    // The lock belongs to the session: the connection must not be exchanged meanwhile.
    max_lifetime: null,
    onnotice: () => undefined,
    connection: { application_name: 'headwater-migrate' },
  });
  try {
    await sql`select pg_advisory_lock(${MIGRATION_LOCK}::bigint)`;
    const applied = await applyMigrations(sql, migrations, options);
    await migrateJobs(options);
    return applied;
  } finally {
    // Ends the session, and with it the lock.
    await sql.end({ timeout: 5 });
  }
}

/**
 * Names of the files that `migrate` would apply. Changes nothing. Throws CONFLICT where it would.
 */
export async function planMigrations(url: string): Promise<string[]> {
  const migrations = await readMigrations(MIGRATIONS_DIR);
  const sql = postgresAt(url, { max: 1, onnotice: () => undefined });
  try {
    const [row] = await sql<{ has: boolean }[]>`select to_regclass('headwater_migrations') is not null as has`;
    const done = row?.has === true ? await readApplied(sql) : [];
    checkApplied(migrations, done);
    const applied = new Set(done.map(({ name }) => name));
    return migrations.map(({ name }) => name).filter((name) => !applied.has(name));
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function readApplied(sql: postgres.Sql): Promise<{ name: string; sha256: string }[]> {
  return sql<{ name: string; sha256: string }[]>`select name, sha256 from headwater_migrations order by name`;
}

async function migrateJobs({ url: databaseUrl, log }: MigrateOptions): Promise<void> {
  const { url, ...tls } = placeOfUrl(databaseUrl);
  const pgPool = new Pool({ connectionString: url, ...tls, max: 1 });
  // An error of a connection is that of its query: without listeners it would end the process.
  pgPool.on('error', (err) => log.debug({ err }, 'a connection for migrations was lost'));
  pgPool.on('connect', (client) => client.on('error', () => undefined));
  try {
    await runMigrations({ pgPool, logger: quietLogger(log) });
  } finally {
    await pgPool.end();
  }
}

/** Names of the migrations of this code, in their order. */
export async function listMigrations(): Promise<string[]> {
  return (await readMigrations(MIGRATIONS_DIR)).map(({ name }) => name);
}

async function readMigrations(dir: string): Promise<Migration[]> {
  const names = (await readdir(dir)).filter((name) => /^\d{4}_.+\.sql$/.test(name)).sort();
  const numbers = new Set(names.map((name) => name.slice(0, 4)));
  if (numbers.size !== names.length) throw new Error(`Two migrations in ${dir} have the same number`);
  return Promise.all(
    names.map(async (name) => {
      const body = await readFile(path.join(dir, name), 'utf8');
      return { name, body, sha256: createHash('sha256').update(body).digest('hex') };
    }),
  );
}

async function applyMigrations(
  sql: postgres.Sql,
  migrations: Migration[],
  options: Pick<MigrateOptions, 'log' | 'maxLockMs'>,
): Promise<string[]> {
  const { log } = options;
  await sql`
    create table if not exists headwater_migrations (
      name text primary key,
      sha256 text not null,
      applied_at timestamptz not null default now()
    )`;
  const done = await readApplied(sql);
  checkApplied(migrations, done);
  const applied = new Set(done.map((row) => row.name));
  const todo = migrations.filter((migration) => !applied.has(migration.name));
  for (const migration of todo) {
    await applyOne(sql, migration, options);
    log.info({ migration: migration.name }, 'migration applied');
  }
  return todo.map((migration) => migration.name);
}

/** Throws CONFLICT where these are not migrations of this code, as they are in it now. */
export async function checkKnownMigrations(done: readonly { name: string; sha256: string }[]): Promise<void> {
  checkApplied(await readMigrations(MIGRATIONS_DIR), done);
}

function checkApplied(migrations: Migration[], done: readonly { name: string; sha256: string }[]): void {
  const known = new Map(migrations.map((migration) => [migration.name, migration.sha256]));
  for (const { name, sha256 } of done) {
    const expected = known.get(name);
    if (expected === undefined) {
      throw new HeadwaterError(
        'CONFLICT',
        `The database has the migration ${name}, which this version does not know. It was used by a newer Headwater: run that one.`,
      );
    }
    if (expected !== sha256) {
      throw new HeadwaterError(
        'CONFLICT',
        `migrations/${name} was changed after it had been applied. Restore the file and put the change into a new one.`,
      );
    }
  }
}

const MAX_LOCK_MS = 2_000;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * A table that a long reader uses, such as a backup, cannot be altered until that ends, and all
 * later statements on it would wait behind the migration. So it waits for a short time, lets them
 * pass, and tries again.
 */
async function applyOne(
  sql: postgres.Sql,
  migration: Migration,
  { log, maxLockMs = MAX_LOCK_MS }: Pick<MigrateOptions, 'log' | 'maxLockMs'>,
): Promise<void> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      await sql.begin(async (tx) => {
        await tx`select set_config('lock_timeout', ${`${maxLockMs}ms`}, true)`;
        await tx.unsafe(migration.body);
        await tx`insert into headwater_migrations (name, sha256) values (${migration.name}, ${migration.sha256})`;
      });
      return;
    } catch (cause) {
      const { code, message } = cause as Error & { code?: string };
      if (code !== LOCK_NOT_AVAILABLE)
        throw new HeadwaterError('INTERNAL', `The migration ${migration.name} failed: ${message}`, { cause });
    }
    if (isFirst) log.warn({ migration: migration.name }, 'the migration waits for a table that is in use');
    await sleep(maxLockMs);
  }
}

/** graphile-worker reports each of its migrations as information; to our readers that is detail. */
function quietLogger(log: Log): GraphileLogger {
  return new GraphileLogger(() => (level, message) => {
    if (level === 'error' || level === 'warning') log.warn(message);
    else log.debug(message);
  });
}
