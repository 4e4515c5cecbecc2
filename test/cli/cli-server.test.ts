import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type AddressInfo, createServer } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type CliUser, createCliUser } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/server.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Each of these starts processes that start others; beside other work a start takes seconds. */
vi.setConfig({ testTimeout: 120_000 });

let user: CliUser;
let database: TestDatabase;

beforeEach(async () => {
  user = await createCliUser();
  database = await createTestDatabase();
  user.env['DATABASE_URL'] = database.url;
  user.env['HEADWATER_ENCRYPTION_KEY'] = 'e'.repeat(64);
});
afterEach(async () => {
  await user.remove();
  await database.drop();
});

interface Check {
  name: string;
  status: string;
  detail: string;
  costs?: string;
}

async function examine(env: Record<string, string> = {}) {
  const { code, stdout } = await user.hw(['server', 'doctor', '--json'], { env });
  const report = JSON.parse(stdout) as { ok: boolean; checks: Check[] };
  return { code, report, check: (name: string) => report.checks.find((one) => one.name === name) };
}

describe('hw server doctor', () => {
  test('finds a machine on which nodes run, and names each thing that it has looked at', async () => {
    const { code, report, check } = await examine();
    expect([code, report.ok]).toEqual([0, true]);
    for (const name of [
      'node',
      'packages',
      'disk',
      'database',
      'clock',
      'schema',
      'stored secrets',
      'egress',
      'sandbox',
      'sandbox network',
      'builder privileges',
    ]) {
      expect([name, check(name)?.detail]).toEqual([name, expect.stringMatching(/./)]);
    }
    expect(check('database')).toMatchObject({ status: 'ok', detail: expect.stringMatching(/version \d\d/) });
    expect(check('encryption key')).toMatchObject({ status: 'ok' });
    // Each check that is not ok states its costs.
    expect(report.checks.filter(({ status, costs }) => (status === 'ok') !== (costs === undefined))).toEqual([]);
    expect(JSON.stringify(report)).not.toContain(new URL(database.url).password || 'e'.repeat(64));
  });

  test('fails for a database that is away, and says no password', async () => {
    const { code, report, check } = await examine({ DATABASE_URL: 'postgres://u:hush@127.0.0.1:9/x' });
    expect([code, report.ok]).toEqual([1, false]);
    expect(check('database')?.status).toBe('fail');
    expect(JSON.stringify(report)).not.toContain('hush');
  });

  test('fails for a key that is none, as a node does at its start', async () => {
    const { code, check } = await examine({ HEADWATER_ENCRYPTION_KEY: 'hush' });
    expect(code).toBe(1);
    expect(check('configuration')?.detail).toMatch(/^HEADWATER_ENCRYPTION_KEY must be (?!.*hush)/);
  });

  test('fails for a schema of a newer version; warns of ranges to reach, and of a key in a file beside a shared database', async () => {
    await database.db.sql`insert into headwater_migrations (name, sha256) values ('9999_future.sql', 'x')`;
    user.env['HEADWATER_DATA_DIR'] = path.join(user.home, 'data');
    const { code, check } = await examine({ HEADWATER_EGRESS_ALLOW: '10.0.0.0/8', HEADWATER_ENCRYPTION_KEY: '' });
    expect(code).toBe(1);
    expect(check('schema')).toMatchObject({ status: 'fail', detail: expect.stringContaining('9999_future.sql') });
    expect(check('egress')).toMatchObject({ status: 'warn', detail: expect.stringContaining('10.0.0.0/8') });
    expect(check('encryption key')).toMatchObject({ status: 'warn', costs: expect.stringContaining('every node') });
  });

  test('fails for a Postgres that is too old, and a data folder that is a file', async () => {
    // A search path of our own puts another function in the place of the one that says the version.
    await database.db.sql.unsafe(`
      create schema old; create function old.current_setting(text) returns text language sql as
        $$ select case $1 when 'server_version_num' then '130011' else '13.11' end $$`);
    const url = new URL(database.url);
    url.searchParams.set('search_path', 'old, pg_catalog, public');
    const old = await examine({ DATABASE_URL: url.href });
    expect(old.code).toBe(1);
    expect(old.check('database')).toMatchObject({ status: 'fail', detail: expect.stringContaining('version 13.11') });
    const file = path.join(user.home, 'file');
    await writeFile(file, '');
    const folder = await examine({ HEADWATER_DATA_DIR: file });
    expect(folder.check('disk')).toMatchObject({ status: 'fail', detail: `${file} is no folder` });
    const started = await user.hw(['server', 'start', '--data-dir', file], { env: { DATABASE_URL: '' } });
    expect([started.code, started.stderr]).toEqual([1, expect.stringContaining('there is a file in its place')]);
  });

  test('warns where something listens already, and hw server start says so', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const port = String((other.address() as AddressInfo).port);
    try {
      const { code, check } = await examine({ PORT: port });
      expect(code).toBe(0);
      expect(check('port')).toMatchObject({ status: 'warn', detail: `something listens on 127.0.0.1 port ${port}` });
      const refused = await user.hw(['server', 'start', '--port', port]);
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('Set another PORT')]);
    } finally {
      other.close();
    }
    expect((await examine({ PORT: String(await freePort()) })).check('port')).toMatchObject({ status: 'ok' });
  });

  test('fails for a layer that is missing and required', async () => {
    const env = { HEADWATER_SANDBOX_CGROUP: '/nowhere', HEADWATER_SANDBOX_REQUIRE: 'memory' };
    const { code, check } = await examine(env);
    expect([code, check('sandbox memory')]).toEqual([
      1,
      expect.objectContaining({ status: 'fail', detail: expect.stringMatching(/HEADWATER_SANDBOX_REQUIRE names it$/) }),
    ]);
  });

  test('says every problem of the configuration, a line each', async () => {
    const env = { PORT: 'x', HEADWATER_EGRESS_ALLOW: 'everything' };
    const { code, stdout, stderr } = await user.hw(['server', 'doctor'], { env });
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout.match(/^fail {2}configuration {2}/gm)).toHaveLength(2);
  });
});

test('hw server migrate makes the schema, once', async () => {
  await database.db.sql.unsafe(
    'drop schema public cascade; create schema public; drop schema if exists graphile_worker cascade',
  );
  const tables = () => database.db.sql`select from pg_tables where schemaname = 'public'`;
  const plan = await user.json('server', 'migrate', '--plan');
  expect([plan.from, (await tables()).length]).toEqual([0, 0]);
  const first = await user.json('server', 'migrate');
  expect(plan.pending).toEqual(first.applied);
  expect(await user.json('server', 'migrate', '--plan')).toEqual({ from: first.to, to: first.to, pending: [] });
  expect(first).toMatchObject({ from: 0, applied: expect.arrayContaining(['0001_init.sql']) });
  expect(await user.json('server', 'migrate')).toEqual({ from: first.to, to: first.to, applied: [] });
  const broken = await user.hw(['server', 'migrate'], { env: { DATABASE_URL: 'mysql://x' } });
  expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining('DATABASE_URL') });
});

test('hw server backup writes the embedded database, and hw server restore puts it back', async () => {
  const refused = await user.hw(['server', 'backup', 'a.backup']);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('DATABASE_URL is set') });
  user.env['DATABASE_URL'] = '';
  await user.json('server', 'migrate', '--data-dir', 'one');
  const made = await user.hw(['server', 'backup', 'a.backup', '--data-dir', 'one']);
  expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('keep HEADWATER_ENCRYPTION_KEY apart') });
  const written = await user.hw(['server', 'backup', '-', '--data-dir', 'one']);
  expect(written).toMatchObject({ code: 0, stdout: expect.stringMatching(/^headwater backup 1\n/) });
  expect(await user.json('server', 'restore', 'a.backup', '--data-dir', 'two')).toMatchObject({ applied: [] });
  expect((await user.json('server', 'migrate', '--plan', '--data-dir', 'two')).pending).toEqual([]);
  await writeFile(path.join(user.workDir, 'b.backup'), 'x');
  const damaged = await user.hw(['server', 'restore', 'b.backup', '--data-dir', 'two']);
  expect(damaged).toMatchObject({ code: 1, stderr: expect.stringContaining('is not a backup of Headwater') });
});

test("the compile cache of the server's files is kept in the folder of hw", async () => {
  const folder = path.join(user.home, '.cache/headwater/compiled');
  const countFiles = async () => (await readdir(folder, { recursive: true })).length;
  delete user.env['NODE_COMPILE_CACHE'];
  await user.hw(['--version'], { ownProcess: true });
  const ofCli = await countFiles();
  await user.json('server', 'migrate');
  expect([ofCli > 50, (await countFiles()) > ofCli + 50]).toEqual([true, true]);
});

test('hw server start is the server: its log, its signals, its exit code; options stand for variables', async () => {
  const port = await freePort();
  const server = user.start(['server', 'start', '--port', String(port), '--data-dir', path.join(user.home, 'data')]);
  const [, key = ''] = await server.untilOutput(/API key +(hw_\w+)/, 60_000);
  await eventually(async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).status === 200, { timeoutMs: 60_000 });
  const login = await user.hw(['login', '--url', `http://127.0.0.1:${port}`], { stdin: key });
  expect(login.code).toBe(0);
  expect((await server.end('SIGTERM')).code).toBe(0);
  const refused = await user.hw(['server', 'api', '--port', 'x']);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('PORT must be a port') });
});

test('hw server engine and hw server api are the two halves of a server', async () => {
  const port = await freePort();
  user.env['HEADWATER_API_KEY'] = `hw_${'k'.repeat(32)}`;
  const api = user.start(['server', 'api', '--port', String(port), '--host', '127.0.0.1']);
  const engine = user.start(['server', 'engine']);
  try {
    await Promise.all([api, engine].map((node) => node.untilOutput(/headwater is up/, 60_000)));
    const env = { HEADWATER_URL: `http://127.0.0.1:${port}` };
    const code =
      'export default { name: "Tick", version: "1", props: { timer: "$.interface.timer" }, run() { this.$emit(1); } };';
    await writeFile(path.join(user.workDir, 'tick.mjs'), code);
    const deployed = await user.hw(['deploy', 'tick.mjs', '--prop', 'timer=1'], { env });
    expect(deployed.code).toBe(0);
    const live = user.start(['events', 'tick', '-f'], { env });
    await live.untilOutput(/\t1\n/, 30_000);
    await live.end();
  } finally {
    await Promise.all([api, engine].map((node) => node.end('SIGTERM')));
  }
});

test('npm start is hw server start', async () => {
  const { scripts } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  expect(scripts).toMatchObject({
    start: 'exec node cli/bin/hw.js server start',
    'start:api': 'exec node cli/bin/hw.js server api',
    'start:engine': 'exec node cli/bin/hw.js server engine',
  });
});

test('a Node that is too old hands over to the one of the packages; without one it says what is needed', async () => {
  const launcher = path.join(user.home, 'cli/bin/hw.js');
  await cp(path.join(ROOT, 'cli/bin'), path.dirname(launcher), { recursive: true });
  await writeFile(path.join(user.home, 'package.json'), '{"type":"module"}');
  // An old Node is not at hand: this one says that it is old. The one that it starts is not told
  // to.
  const old = path.join(user.home, 'old.mjs');
  await writeFile(old, "Object.defineProperty(process.versions, 'node', { value: '18.20.0' });");
  const start = () => promisify(execFile)(process.execPath, ['--import', old, launcher, 'a', 'b c'], { env: user.env });
  const refusal = { code: 1, stderr: expect.stringContaining('hw needs Node 24 or newer; this is 18.20.0') };
  await expect(start()).rejects.toMatchObject(refusal);

  const bundled = path.join(user.home, 'node_modules/node');
  await mkdir(path.join(bundled, 'bin'), { recursive: true });
  await writeFile(path.join(bundled, 'package.json'), '{"name":"node","version":"24.0.0"}');
  await symlink(process.execPath, path.join(bundled, 'bin/node'));
  await mkdir(path.join(user.home, 'cli/src'));
  const main = 'const words: string[] = process.argv.slice(2); console.log(words.join("|")); process.exitCode = 4;';
  await writeFile(path.join(user.home, 'cli/src/main.ts'), main);
  await expect(start()).rejects.toMatchObject({ code: 4, stdout: 'a|b c\n' });
});
