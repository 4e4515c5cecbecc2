import { mkdtemp, readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import postgres from 'postgres';
import { startEmbeddedPostgres } from '../../engine/src/db/server/embedded-postgres.ts';
import { migrate } from '../../engine/src/db/server/migrate.ts';
import { testLog } from './logs.ts';
import { freshenWeb } from './fresh-web.ts';
import { openRunFolder } from './run-folder.ts';
import { CLONE_STRATEGY_VARIABLE, TEMPLATE_DATABASE, TEST_SERVER_VARIABLE } from './database.ts';

const PREFIX = 'headwater-test-';
/** Linux's magic number of tmpfs. */
const TMPFS = 0x01021994;

/**
 * State that the projects of a run share. Each project loads this file separately, so the state is
 * in a global.
 */
interface SharedSetup {
  users: number;
  started: Promise<() => Promise<void>>;
}

const shared = globalThis as { headwaterTestRun?: SharedSetup | undefined };

/**
 * One Postgres for the whole run, with a migrated database that tests clone, and a build of the UI
 * as it is now. Where the variable
 * names a server already (any Postgres ≥ 14, as superuser), that one is used. Called by each
 * project of the run; the last one that ends stops it.
 */
export async function setup(): Promise<() => Promise<void>> {
  const run = (shared.headwaterTestRun ??= { users: 0, started: startRun() });
  run.users++;
  const stopRun = await run.started;
  return async () => {
    if (--run.users > 0) return;
    shared.headwaterTestRun = undefined;
    await stopRun();
  };
}

async function startRun(): Promise<() => Promise<void>> {
  await freshenWeb();
  const folder = openRunFolder();
  const stopServer = await startServer();
  return async () => {
    folder.close();
    await stopServer();
  };
}

async function startServer(): Promise<() => Promise<void>> {
  const given = process.env[TEST_SERVER_VARIABLE];
  if (given !== undefined) {
    await makeTemplate(given);
    return () => Promise.resolve();
  }
  await removeLeftOvers();
  const dataDir = await mkdtemp(path.join(tmpdir(), PREFIX));
  await writeFile(path.join(dataDir, 'owner'), String(process.pid));
  // Tests kill processes, never the machine: what fsync guards against does not happen here.
  const settings = { fsync: 'off', full_page_writes: 'off', max_connections: '300' };
  const server = await startEmbeddedPostgres({ dataDir, log: testLog, settings });
  process.env[TEST_SERVER_VARIABLE] = server.url;
  if ((await statfs(dataDir)).type === TMPFS) process.env[CLONE_STRATEGY_VARIABLE] = 'file_copy';
  await makeTemplate(server.url);
  return async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };

  async function makeTemplate(url: string): Promise<void> {
    const sql = postgres(url, { max: 1, onnotice: () => undefined });
    try {
      await sql`update pg_database set datistemplate = false where datname = ${TEMPLATE_DATABASE}`;
      await sql`drop database if exists ${sql(TEMPLATE_DATABASE)} with (force)`;
      await sql`create database ${sql(TEMPLATE_DATABASE)}`;
      const template = new URL(url);
      template.pathname = `/${TEMPLATE_DATABASE}`;
      await migrate({ url: template.href, log: testLog });
      // Connections are forbidden, so that no session (autovacuum included) blocks a clone.
      await sql`alter database ${sql(TEMPLATE_DATABASE)} with is_template true allow_connections false`;
    } finally {
      await sql.end();
    }
  }
}

/**
 * A run that was killed could not clean up: its server is stopped by adopting it, its folder
 * removed.
 */
async function removeLeftOvers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(PREFIX)) continue;
    const dataDir = path.join(tmpdir(), name);
    const owner = Number(await readFile(path.join(dataDir, 'owner'), 'utf8').catch(() => ''));
    if (!owner || isAlive(owner)) continue;
    // Another user's, or another run cleans it up at the same time.
    await startEmbeddedPostgres({ dataDir, log: testLog })
      .then((server) => server.stop())
      .catch(() => undefined);
    await rm(dataDir, { recursive: true, force: true }).catch(() => undefined);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
