import { execFile } from 'node:child_process';
import { chmod, chown, lstat, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startEmbeddedPostgres } from '../../../engine/src/db/server/embedded-postgres.ts';
import { joinDatabase } from '../../../engine/src/db/server/join-database.ts';
import { migrateDatabase } from '../../../engine/src/db/server/migrate-database.ts';
import { findPostgresBinaries } from '../../../engine/src/db/server/postgres-binaries.ts';
import { closedFolder } from '../../../engine/src/db/server/server-identity.ts';
import { checkDatabase } from '../../../engine/src/cluster/doctor/check-database.ts';
import { rotateSecrets } from '../../../engine/src/index.ts';
import { testLog } from '../../support/logs.ts';
import { startProcess, type TestProcess } from '../../support/processes.ts';

const OWNER_MAIN = fileURLToPath(new URL('../../support/embedded-postgres-main.ts', import.meta.url));
const MIGRATE_MAIN = fileURLToPath(new URL('../../../api/src/migrate-main.ts', import.meta.url));
const DOCTOR_MAIN = fileURLToPath(new URL('../../../api/src/doctor-main.ts', import.meta.url));

vi.setConfig({ testTimeout: 120_000 });

/** Users that every Linux has. The second one is also among those that root runs the server as. */
const USERS = await readUsers(['daemon', 'nobody']);
const daemon = USERS[0] ?? { name: '', uid: 0, gid: 0 };

async function readUsers(names: readonly string[]) {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n').map((line) => line.split(':'));
  return names.flatMap((name) => {
    const [, , uid, gid] = lines.find(([first]) => first === name) ?? [];
    return uid === undefined ? [] : [{ name, uid: Number(uid), gid: Number(gid) }];
  });
}

let folder: string;
let dataDir: string;
let options: { dataDir: string; log: typeof testLog };
const ends: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'headwater-owner-'));
  await chmod(folder, 0o755);
  dataDir = path.join(folder, 'data');
  options = { dataDir, log: testLog };
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await rm(folder, { recursive: true, force: true });
});

/** Another user from its first line on. */
function startAs({ uid, gid }: { uid: number; gid: number }, args: readonly string[]): TestProcess {
  const change = `data:text/javascript,process.setgroups([]);process.setgid(${gid});process.setuid(${uid})`;
  const env = { HEADWATER_DATA_DIR: dataDir, NODE_COMPILE_CACHE: '' };
  const started = startProcess({ args: ['--import', change, ...args], env, cwd: '/' });
  ends.push(() => started.end('SIGTERM'));
  return started;
}

/** Answers when its server is up. */
async function startNode(user: { uid: number; gid: number }): Promise<TestProcess> {
  const node = startAs(user, [OWNER_MAIN, dataDir]);
  await node.untilOutput(/up \S+/);
  return node;
}

async function makeDataDirOf({ uid, gid }: { uid: number; gid: number }): Promise<void> {
  await mkdir(dataDir, { mode: 0o700 });
  await chown(dataDir, uid, gid);
}

async function ownersOf(dir: string): Promise<string[]> {
  const names = ['.', ...(await readdir(dir, { recursive: true }))];
  return Promise.all(names.map(async (name) => `${name} ${(await lstat(path.join(dir, name))).uid}`));
}

async function join(): Promise<void> {
  const joined = await joinDatabase(options);
  try {
    const sql = postgres(joined.url, { max: 1 });
    await sql`select 1`;
    await sql.end();
  } finally {
    await joined.stop();
  }
}

/** Error of a command that root runs beside a node of another user. */
const isRefused = (name: string) => ({
  code: 'CONFLICT',
  message: expect.stringContaining(`is that of the user ${name}`),
});

async function startAndStop(): Promise<void> {
  await (await startEmbeddedPostgres(options)).stop();
}

const isRoot = process.platform === 'linux' && process.getuid?.() === 0 && USERS.length > 0;
/** If only root can enter the project's folder, no other user can run the server. */
const canBeOthers = isRoot && (await closedFolder((await findPostgresBinaries(tmpdir())).postgres)) === undefined;

describe.runIf(canBeOthers)('root beside a node of another user', () => {
  test.each(USERS)('does not take the database of $name away while the node is stopped', async (user) => {
    await makeDataDirOf(user);
    await (await startNode(user)).end('SIGTERM');
    const before = await ownersOf(dataDir);
    for (const command of [join, () => migrateDatabase(options), () => rotateSecrets(options)])
      await expect(command()).rejects.toMatchObject(isRefused(user.name));
    expect(await checkDatabase(options as never)).toEqual([
      expect.objectContaining({ status: 'fail', detail: isRefused(user.name).message }),
    ]);
    expect(await ownersOf(dataDir)).toEqual(before);
    await (await startNode(user)).end('SIGTERM');
  });

  test('does not give away a cluster alone either', async () => {
    await startAndStop();
    const cluster = path.join(dataDir, 'postgres');
    await promisify(execFile)('chown', ['-R', `${daemon.uid}:${daemon.gid}`, cluster]);
    await expect(join()).rejects.toMatchObject(isRefused(daemon.name));
    expect((await lstat(cluster)).uid).toBe(daemon.uid);
  });

  test('joins the database of a node that runs', async () => {
    await makeDataDirOf(daemon);
    const node = await startNode(daemon);
    const sql = postgres((await node.untilOutput(/up (\S+)/))[1] ?? '', { max: 1 });
    await sql`create database headwater`;
    await sql.end();
    await join();
    await migrateDatabase(options);
    expect((await ownersOf(dataDir)).filter((line) => line.endsWith(' 0'))).toEqual([]);
    await node.end('SIGTERM');
  });

  test('makes no database where the data folder, or the one that it would be made in, is another user’s', async () => {
    await makeDataDirOf(daemon);
    await expect(migrateDatabase(options)).rejects.toMatchObject(isRefused(daemon.name));
    const inside = { ...options, dataDir: path.join(dataDir, 'deeper/data') };
    await expect(migrateDatabase(inside)).rejects.toMatchObject(isRefused(daemon.name));
    expect(await readdir(dataDir)).toEqual([]);
  });

  test('is reported when another user meets files of root', async () => {
    await startAndStop();
    for (const mode of [0o755, 0o700]) {
      await chmod(dataDir, mode);
      const migrate = startAs(daemon, [MIGRATE_MAIN]);
      expect(await migrate.exited).toMatchObject({ code: 1 });
      expect(migrate.output()).toMatch(/^The data folder \S+ is that of the user root, [^\n]+\n$/);
    }
    // It cannot see whether there is a database, and says no more than that.
    const doctor = startAs(daemon, [DOCTOR_MAIN]);
    expect(await doctor.exited).toMatchObject({ code: 1 });
    const { checks } = JSON.parse(doctor.output()) as { checks: { name: string }[] };
    const database = { status: 'fail', detail: isRefused('root').message };
    expect(checks.find(({ name }) => name === 'database')).toMatchObject(database);
  });
});

// The server runs as a user that has to enter the checkout.
test.runIf(canBeOthers)(
  'files that root made stay with root for each user of the server and owner of the folder',
  async () => {
    await startAndStop();
    const nobody = USERS.find(({ name }) => name === 'nobody') ?? { uid: 65534, gid: 65534 };
    const cluster = path.join(dataDir, 'postgres');
    await promisify(execFile)('chown', ['-R', `${nobody.uid}:${nobody.gid}`, cluster]);
    // A folder of a host, in a container.
    await chown(dataDir, daemon.uid, daemon.gid);
    await expect(migrateDatabase(options)).resolves.toMatchObject({ from: 0 });
    await join();
    await startAndStop();
  },
);
