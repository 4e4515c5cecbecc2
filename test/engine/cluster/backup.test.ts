import { appendFile, cp, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { listMigrations, migrate } from '../../../engine/src/db/server/migrate.ts';
import { joinDatabase } from '../../../engine/src/db/server/join-database.ts';
import { prepareDatabase } from '../../../engine/src/db/server/prepare-database.ts';
import { openDatabase, type Sql } from '../../../engine/src/db/database.ts';
import { type MadeBackup, makeBackup, restoreBackup } from '../../../engine/src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { type RequestEnd, startLoad } from '../../support/keep-alive-load.ts';
import { testLog } from '../../support/logs.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { makeDataDir } from '../../support/run-folder.ts';
import { deploy, startServer, subscribe, type TestServer } from '../../support/server.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const ECHO = `export default { name: "Echo", version: "1", dedupe: "unique", props: { http: "$.interface.http", db: "$.service.db" },
  async run(event) { const id = event.body.id; this.db.set("last", id); this.$emit({ id }, { id }); } };`;
const WAITS = `export default { name: "Ticks", version: "1", props: { timer: "$.interface.timer" }, run() { this.$emit("tick"); } };`;

const encryptionKey = 'e'.repeat(64);

const stops: (() => Promise<void>)[] = [];

let folder: string;
let file: string;
let receiver: Receiver;
/** Ids of requests that had their answer when the backup began. */
let accepted: string[];
let ends: RequestEnd[];
let made: MadeBackup;
let sourceId: string;
let oldDataDir: string;

async function withDatabase<T>(dataDir: string, look: (sql: Sql) => Promise<T>): Promise<T> {
  const joined = await joinDatabase({ dataDir, log: testLog });
  const db = openDatabase({ url: joined.url, maxConnections: 1 });
  try {
    return await look(db.sql);
  } finally {
    await db.close();
    await joined.stop();
  }
}

async function emittedIds(sql: Sql): Promise<string[]> {
  const events = await sql<{ data: string }[]>`select data from events where emitter_id = ${sourceId}`;
  return events.map(({ data }) => (JSON.parse(data) as { id: string }).id);
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'headwater-backup-'));
  file = path.join(folder, 'headwater.backup');
  receiver = await startReceiver();
  oldDataDir = makeDataDir();
  const server: TestServer = await startServer({ dataDir: oldDataDir });
  stops.push(server.stop);
  const { id, endpoint } = await deploy(server, ECHO);
  sourceId = id;
  await deploy(server, WAITS, { props: { timer: { intervalSeconds: 1 } } });
  await subscribe(server, id, receiver.url);
  const load = startLoad([1, 2, 3].map((at) => ({ url: endpoint, name: `load-${at}`, pauseMs: 2 })));
  await eventually(() => load.ends.length > 100);
  accepted = load.ends.filter(({ status }) => status === 200).map(({ id: one }) => one);
  made = await makeBackup({ dataDir: oldDataDir, encryptionKey, to: file, log: testLog });
  await eventually(() => load.ends.length > accepted.length + 20);
  await load.stop();
  ({ ends } = load);
  await server.stop();
});
afterAll(async () => {
  for (const stop of stops) await stop();
  await receiver?.stop();
  await rm(folder, { recursive: true, force: true });
});

let dataDir: string;
beforeEach(() => {
  dataDir = path.join(makeDataDir(), 'data');
});

const restore = (from = file, options = {}) =>
  restoreBackup({ file: from, dataDir, encryptionKey, replaces: false, log: testLog, ...options });

test('a backup under load has every event accepted before it, none twice, and goes on with the waiting ones', async () => {
  expect(made).toMatchObject({ encryptionKeys: [expect.stringMatching(/^[0-9a-f]{12}$/)], bytes: expect.any(Number) });
  const { rows, applied } = await restore();
  expect(rows).toBeGreaterThan(accepted.length);
  expect(applied).toEqual([]);
  const sequences = (sql: Sql) => sql`select last_value from pg_sequences where last_value is not null`;
  expect((await withDatabase(dataDir, sequences)).length).toBeGreaterThan(0);
  receiver.requests.length = 0;
  const server = await startServer({ dataDir });
  stops.push(server.stop);
  const ids = await withDatabase(dataDir, async (sql) => {
    await eventually(
      async () => (await sql`select from invocations where source_id = ${sourceId}`).length === 0 && 'done',
      { timeoutMs: 60_000 },
    );
    await eventually(async () => (await sql`select from deliveries where status = 'pending'`).length === 0 && 'done', {
      timeoutMs: 60_000,
    });
    return emittedIds(sql);
  });
  expect(ids.length).toBe(new Set(ids).size);
  expect(new Set(accepted).difference(new Set(ids))).toEqual(new Set());
  const sent = new Set(ends.map(({ id }) => id));
  expect(new Set(ids).isSubsetOf(sent)).toBe(true);
  // The source, its state and its endpoint are there, and what it had emitted is known.
  const { body } = await server.api('GET', `/sources/${sourceId}`);
  const url = body.data.configured_props.http.endpoint_url as string;
  const at = new URL(url);
  for (const id of [accepted.at(-1), 'new']) {
    const headers = { 'content-type': 'application/json' };
    const again = await fetch(`${server.url}${at.pathname}`, { method: 'POST', headers, body: JSON.stringify({ id }) });
    expect(again.status).toBe(200);
  }
  const after = await withDatabase(dataDir, async (sql) => {
    await eventually(async () => (await emittedIds(sql)).includes('new'), { timeoutMs: 60_000 });
    return emittedIds(sql);
  });
  expect(after.filter((id) => id === accepted.at(-1))).toHaveLength(1);
  // The timer goes on by itself.
  await withDatabase(dataDir, async (sql) => {
    const ticks = async () => (await sql`select from events where emitter_id <> ${sourceId}`).length;
    const before = await ticks();
    await eventually(async () => (await ticks()) > before, { timeoutMs: 60_000 });
  });
  const running = await restore(file, { replaces: true }).catch((error: Error) => error.message);
  expect(running).toMatch(/^Another Headwater uses /);
  await server.stop();
});

describe('a restore changes nothing', () => {
  const damaged = async (change: (copy: string) => Promise<void>) => {
    const copy = path.join(folder, 'copy');
    await cp(file, copy);
    await change(copy);
    return restore(copy).catch((error: Error) => error.message);
  };

  test('from a file that is truncated, changed, or something else', async () => {
    const { length } = await readFile(file);
    expect(await damaged((copy) => truncate(copy, length - 1))).toMatch(/is truncated, or was changed/);
    expect(await damaged((copy) => truncate(copy, 30))).toMatch(/is truncated/);
    expect(await damaged((copy) => appendFile(copy, 'x'))).toMatch(/is truncated, or was changed/);
    const flip = async (copy: string) => {
      const bytes = await readFile(copy);
      const at = bytes.length >> 1;
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      await writeFile(copy, bytes);
    };
    expect(await damaged(flip)).toMatch(/is truncated, or was changed/);
    expect(await damaged((copy) => writeFile(copy, 'select 1;'.repeat(10)))).toMatch(/is not a backup of Headwater/);
    expect(await damaged((copy) => writeFile(copy, 'headwater backup 9\n'))).toMatch(/the form 9/);
    expect(await damaged((copy) => rm(copy))).toMatch(/cannot be read/);
    await expect(readdir(dataDir)).rejects.toThrow('ENOENT');
  });

  test('with another encryption key or without one', async () => {
    const wrong = restore(file, { encryptionKey: 'f'.repeat(64) });
    await expect(wrong).rejects.toThrow(/needs the encryption key [0-9a-f]{12}, .* whose key is [0-9a-f]{12}/);
    const none = restoreBackup({ file, dataDir, replaces: false, log: testLog });
    await expect(none).rejects.toThrow(/which has no key yet/);
    await expect(readdir(dataDir)).rejects.toThrow('ENOENT');
  });

  test('over existing accounts, unless it is to replace them', async () => {
    dataDir = oldDataDir;
    const before = await withDatabase(dataDir, emittedIds);
    await expect(restore()).rejects.toThrow(/has accounts, which a restore would replace/);
    expect(await withDatabase(dataDir, emittedIds)).toEqual(before);
    expect(before.length).toBeGreaterThan(accepted.length);
    await restore(file, { replaces: true });
    const after = await withDatabase(dataDir, emittedIds);
    expect(after.length).toBeLessThan(before.length);
    const databases = (sql: Sql) => sql<{ datname: string }[]>`select datname from pg_database order by 1`;
    const names = (await withDatabase(dataDir, databases)).map(({ datname }) => datname);
    expect(names).toEqual(['headwater', 'postgres', 'template0', 'template1']);
  });
});

test('a backup of an older version is restored with its schema, and brought to that of this one', async () => {
  const older = path.join(makeDataDir(), 'older');
  const migrations = await listMigrations();
  const prepared = await prepareDatabase({ dataDir: older, log: testLog });
  await migrate({ url: prepared.url, log: testLog, only: migrations.slice(0, -3) });
  const db = openDatabase({ url: prepared.url, maxConnections: 1 });
  const name = 'one\ttab, \\N and \\. and ü';
  await db.sql`insert into accounts (id, name) values ('o_1', ${name})`;
  await db.close();
  await prepared.stop();
  const copy = path.join(folder, 'older.backup');
  await makeBackup({ dataDir: older, encryptionKey, to: copy, log: testLog });
  const { applied } = await restore(copy);
  expect(applied).toEqual(migrations.slice(-3));
  const accounts = (sql: Sql) => sql`select id, name from accounts`;
  expect([...(await withDatabase(dataDir, accounts))]).toEqual([{ id: 'o_1', name }]);
});
