import { chmod, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../engine/src/db/server/embedded-postgres.ts';
import { findPostgresBinaries } from '../../../engine/src/db/server/postgres-binaries.ts';
import { closedFolder, rootIdentities } from '../../../engine/src/db/server/server-identity.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/logs.ts';
import { startProcess, type TestProcess } from '../../support/processes.ts';

const OWNER_MAIN = fileURLToPath(new URL('../../support/embedded-postgres-main.ts', import.meta.url));

let dataDir: string;
const ends: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  dataDir = path.join(await mkdtemp(path.join(tmpdir(), 'headwater-embedded-')), 'data');
});

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  // A killed process leaves its server running: adopting it is the way to stop it.
  if ((await serverPid()) !== undefined) await (await startEmbeddedPostgres({ dataDir, log: testLog })).stop();
  await rm(path.dirname(dataDir), { recursive: true, force: true });
});

async function start(options: Partial<Parameters<typeof startEmbeddedPostgres>[0]> = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, log: testLog, ...options });
  ends.push(() => server.stop());
  return server;
}

async function startOwner(): Promise<TestProcess & { url: string }> {
  const owner = startProcess({ args: [OWNER_MAIN, dataDir] });
  ends.push(() => owner.end());
  const [, url] = await owner.untilOutput(/up (\S+)/);
  return { ...owner, url: url ?? '' };
}

async function serverPid(): Promise<number | undefined> {
  const text = await readFile(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : Number(text.split('\n')[0]);
}

async function query<T>(url: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}

const writeMark = (url: string) =>
  query(url, async (sql) => {
    await sql`create table mark (text text)`;
    await sql`insert into mark values ('kept')`;
  });
const readMark = (url: string) =>
  query(url, async (sql) => (await sql<{ text: string }[]>`select text from mark`).map((row) => row.text));

test('a second start on the same data is quicker than the first, and finds the written rows', async () => {
  const beforeFirst = performance.now();
  const first = await start();
  const firstMs = performance.now() - beforeFirst;
  await writeMark(first.url);
  await first.stop();
  expect(await serverPid()).toBeUndefined();
  const before = performance.now();
  const second = await start();
  expect(performance.now() - before).toBeLessThan(firstMs);
  expect(second.adopted).toBe(false);
  expect(await readMark(second.url)).toEqual(['kept']);
});

test('stop is idempotent and may be called twice at once', async () => {
  const server = await start();
  await Promise.all([server.stop(), server.stop()]);
  await server.stop();
  await expect(readMark(server.url)).rejects.toThrow(/ECONNREFUSED/);
});

test('the data directory and its secrets are readable by their owner alone, and only loopback is listened on', async () => {
  const server = await start();
  const mode = async (name: string) => (await stat(path.join(dataDir, name))).mode & 0o777;
  expect(await mode('.')).toBe(0o700);
  expect(await mode('postgres')).toBe(0o700);
  expect(await mode('postgres-password')).toBe(0o600);
  expect(await mode('postgres.log')).toBe(0o600);
  const settings = await query(
    server.url,
    (sql) => sql<{ name: string; setting: string }[]>`
      select name, setting from pg_settings
      where name in ('listen_addresses', 'unix_socket_directories', 'fsync', 'synchronous_commit') order by name`,
  );
  expect(Object.fromEntries(settings.map((row) => [row.name, row.setting]))).toEqual({
    fsync: 'on',
    listen_addresses: '127.0.0.1',
    synchronous_commit: 'on',
    unix_socket_directories: '',
  });
  const wrong = new URL(server.url);
  wrong.password = 'wrong';
  await expect(readMark(wrong.href)).rejects.toThrow(/password authentication failed/);
});

test('a server whose owner was killed is adopted with its data, and stopped at the end', async () => {
  const owner = await startOwner();
  await writeMark(owner.url);
  const pid = await serverPid();
  await owner.end('SIGKILL');
  const server = await start();
  expect(server.adopted).toBe(true);
  expect(await serverPid()).toBe(pid);
  expect(await readMark(server.url)).toEqual(['kept']);
  await server.stop();
  expect(await serverPid()).toBeUndefined();
});

test('an owner that exits without stopping takes the server along', async () => {
  const owner = await startOwner();
  await writeMark(owner.url);
  await owner.end('SIGUSR2');
  await eventually(async () => (await serverPid()) === undefined);
  const server = await start();
  expect(server.adopted).toBe(false);
  expect(await readMark(server.url)).toEqual(['kept']);
});

test('after kill -9 of owner and server the data is there again', async () => {
  const owner = await startOwner();
  await writeMark(owner.url);
  const pid = (await serverPid()) ?? 0;
  await owner.end('SIGKILL');
  process.kill(pid, 'SIGKILL');
  const server = await start();
  expect(server.adopted).toBe(false);
  expect(await readMark(server.url)).toEqual(['kept']);
});

test('a stale pid file that names a foreign live process does not keep the server from starting', async () => {
  const owner = await startOwner();
  await writeMark(owner.url);
  const pid = (await serverPid()) ?? 0;
  await owner.end('SIGKILL');
  process.kill(pid, 'SIGKILL');
  const bystander = startProcess({ args: ['-e', 'setInterval(() => {}, 1000); console.log("here")'] });
  ends.push(() => bystander.end());
  await bystander.untilOutput(/here/);
  const file = path.join(dataDir, 'postgres/postmaster.pid');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace(/^\d+/, String(bystander.pid)));
  const server = await start();
  expect(await readMark(server.url)).toEqual(['kept']);
});

test('a pid file that was never written to its end does not keep the server from starting', async () => {
  await (await start()).stop();
  const file = path.join(dataDir, 'postgres/postmaster.pid');
  const longAgo = new Date(Date.now() - 60_000);
  for (const text of ['', 'not a number\n']) {
    await writeFile(file, text);
    await utimes(file, longAgo, longAgo);
    await (await start()).stop();
  }
  // Just made, as by a server that is starting at this moment: waited for, then removed.
  await writeFile(file, '');
  const server = await start();
  expect(await serverPid()).toBeGreaterThan(0);
  expect(server.adopted).toBe(false);
});

test('a data directory in use is refused, and its user is not disturbed', async () => {
  const owner = await startOwner();
  await writeMark(owner.url);
  await expect(start()).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('Another Headwater'),
  });
  expect(await readMark(owner.url)).toEqual(['kept']);
});

test('two first starts at the same time: one wins and the other is refused', async () => {
  const outcomes = await Promise.allSettled([start(), start()]);
  expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected']);
  const [refused] = outcomes.filter((outcome) => outcome.status === 'rejected');
  expect(refused?.reason).toMatchObject({ code: 'CONFLICT' });
  const [winner] = outcomes.filter((outcome) => outcome.status === 'fulfilled');
  await writeMark(winner?.value.url ?? '');
});

test('a kill in the middle of the first start leaves nothing half-made in the way', async () => {
  const owner = startProcess({ args: [OWNER_MAIN, dataDir] });
  ends.push(() => owner.end());
  await eventually(async () => (await readdir(dataDir)).some((name) => name.startsWith('postgres-new-')));
  await owner.end('SIGKILL');
  expect(await readdir(dataDir)).not.toContain('postgres');
  const server = await start();
  await writeMark(server.url);
  expect(await readMark(server.url)).toEqual(['kept']);
});

test('a server that is killed under its owner comes back at the same address', async () => {
  const server = await start();
  await writeMark(server.url);
  const pid = (await serverPid()) ?? 0;
  process.kill(pid, 'SIGKILL');
  await eventually(async () => (await serverPid()) !== pid, { what: 'a new server process' });
  const marks = await eventually(() => readMark(server.url), { what: 'the server to answer again' });
  expect(marks).toEqual(['kept']);
  // The claim on the folder returns a moment later; until then another caller would get it.
  const claims = () => query(server.url, (sql) => sql`select from pg_locks where locktype = 'advisory' and granted`);
  await eventually(async () => (await claims()).length > 0, { what: 'the claim on the folder' });
  await expect(startEmbeddedPostgres({ dataDir, log: testLog })).rejects.toMatchObject({ code: 'CONFLICT' });
});

test.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
  'root can run the server in each of the ways, one after the other on the same data',
  async () => {
    const all = await rootIdentities();
    expect(all.map((identity) => identity.name)).toEqual(['user namespace', 'setpriv', 'another user']);
    // If only root can enter the project's folder, only the first way works.
    const { postgres: program } = await findPostgresBinaries(dataDir);
    const identities = (await closedFolder(program)) === undefined ? all : all.slice(0, 1);
    await Promise.all(
      all.slice(identities.length).map((identity) =>
        expect(start({ identities: [identity] })).rejects.toMatchObject({
          message: expect.stringContaining('cannot enter'),
        }),
      ),
    );
    // The last way has no rights beyond its own, so the folders above must let it pass.
    await chmod(path.dirname(dataDir), 0o711);
    for (const identity of [...identities, ...identities]) {
      const server = await start({ identities: [identity] });
      await query(server.url, async (sql) => {
        await sql`create table if not exists mark (text text)`;
        await sql`insert into mark values (${identity.name})`;
      });
      await server.stop();
    }
    const server = await start();
    const names = identities.map((identity) => identity.name);
    expect(await readMark(server.url)).toEqual([...names, ...names]);
  },
);

test('if the server cannot be run, the error says what was tried and what helps', async () => {
  const broken = (name: string) => ({ name, prefix: ['/bin/false'], spawnAs: {}, needsOpenDataDir: false });
  await expect(start({ identities: [broken('this'), broken('that')] })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringMatching(/this: .*that: .*other than root.*DATABASE_URL/s),
  });
});
