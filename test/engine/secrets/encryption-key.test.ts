import { randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { rotateSecrets, runDoctor } from '../../../engine/src/index.ts';
import { loadMasterKeys } from '../../../engine/src/secrets/master-key.ts';
import { claimEncryptionKey, readEncryptionKeys } from '../../../engine/src/secrets/encryption-keys.sql.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { testLog } from '../../support/logs.ts';
import { startProcess } from '../../support/processes.ts';
import { makeDataDir } from '../../support/run-folder.ts';
import { deploy, freePort, type ServerOptions, startServer, type TestServer } from '../../support/server.ts';

const MAIN = fileURLToPath(new URL('../../../api/src/main.ts', import.meta.url));
const ROTATE = fileURLToPath(new URL('../../../api/src/rotate-secrets-main.ts', import.meta.url));
const [FIRST, SECOND] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];
const SECRET = `export default { name: "Secret", version: "1",
  props: { http: "$.interface.http", token: { type: "string", secret: true } }, run() {} };`;

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function newDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  ends.push(() => database.drop());
  return database;
}

async function start(options: ServerOptions): Promise<TestServer> {
  const server = await startServer(options);
  ends.push(() => server.stop());
  return server;
}

const withKeys = (encryptionKey: string, old = '') => ({
  HEADWATER_ENCRYPTION_KEY: encryptionKey,
  HEADWATER_ENCRYPTION_KEYS_OLD: old,
});

async function keyIdOf(encryptionKey: string): Promise<string> {
  return (await loadMasterKeys({ encryptionKey, dataDir: '', embedded: false })).keys.current().id;
}

async function keyIdIn(dataDir: string): Promise<string> {
  return keyIdOf(((await readFile(path.join(dataDir, 'encryption-key'), 'utf8')).split('\n')[0] ?? '').trim());
}

/** Exit code and output of a process, for a node that refuses to start. */
async function runToEnd(main: string, env: Record<string, string>) {
  const ended = startProcess({ args: [main], env });
  const { code } = await ended.exited;
  return { code, output: ended.output() };
}

async function doctorOf(options: { databaseUrl?: string; dataDir: string; encryptionKey?: string }) {
  const { checks } = await runDoctor({ ...options, egressAllow: [], log: testLog });
  return checks.find(({ name }) => name === 'stored secrets');
}

test.each(['a variable', 'a file'])(
  'two nodes with different keys from %s start on an empty database together: one runs and one is refused',
  async (from) => {
    const database = await createEmptyDatabase();
    ends.push(() => database.drop());
    const folders = [makeDataDir(), makeDataDir()] as const;
    const keys = from === 'a file' ? (['', ''] as const) : ([FIRST, SECOND] as const);
    const nodes = await Promise.all(
      folders.map(async (dataDir, at) => {
        const node = startProcess({
          args: [MAIN],
          env: {
            DATABASE_URL: database.url,
            HEADWATER_DATA_DIR: dataDir,
            PORT: String(await freePort()),
            ...withKeys(keys[at] ?? ''),
          },
        });
        ends.push(() => node.end('SIGTERM'));
        return node;
      }),
    );
    const outcomes = await Promise.all(
      nodes.map((node) =>
        Promise.race([
          node.untilOutput(/headwater is up/, 60_000).then(() => 'up'),
          node.exited.then(({ code }) => code),
        ]),
      ),
    );
    expect(new Set(outcomes)).toEqual(new Set([1, 'up']));
    const [winner, loser] = outcomes[0] === 'up' ? [0, 1] : [1, 0];
    const ids = from === 'a file' ? await Promise.all(folders.map(keyIdIn)) : await Promise.all(keys.map(keyIdOf));
    const told = (nodes[loser]?.output() ?? '').split('\n').filter((line) => line.startsWith('Headwater cannot start'));
    expect(told).toEqual([
      expect.stringMatching(`The nodes of this database use the encryption key ${ids[winner]}, .*${ids[loser]}`),
    ]);
    for (const next of ['HEADWATER_ENCRYPTION_KEY', 'HEADWATER_ENCRYPTION_KEYS_OLD', 'npm run secrets:rotate'])
      expect(told[0]).toContain(next);
    expect(told[0]).toContain(from === 'a file' ? path.join(folders[loser] ?? '', 'encryption-key') : 'HEADWATER_');
    for (const key of [FIRST, SECOND]) expect(nodes[loser]?.output()).not.toContain(key);
  },
);

test('the claim of a key is one row, and of many that are claimed together one wins', async () => {
  const { db } = await newDatabase();
  const ids = Array.from({ length: 20 }, (_, at) => `key${at}`);
  const refusals = await Promise.all(ids.map((id) => claimEncryptionKey(db.sql, id, (other) => other === id)));
  const [winner] = await readEncryptionKeys(db.sql);
  expect(await readEncryptionKeys(db.sql)).toEqual([winner]);
  expect(refusals.map((refusal, at) => [ids[at], refusal])).toEqual(
    ids.map((id) => [id, id === winner ? [] : [winner]]),
  );
});

test('a database without key records, and one during a rotation, accept a node that opens its sealed values', async () => {
  const { url: databaseUrl, db } = await newDatabase();
  const [first, second] = await Promise.all([FIRST, SECOND].map(keyIdOf));
  const common = { databaseUrl, dataDir: makeDataDir() };
  const node = await start({ ...common, env: withKeys(FIRST) });
  await deploy(node, SECRET, { props: { token: 'hush' } });
  await node.stop();
  // As the version before left it.
  await db.sql`delete from encryption_keys`;
  const environment = { DATABASE_URL: databaseUrl, HEADWATER_DATA_DIR: common.dataDir };
  const stranger = await runToEnd(MAIN, { ...environment, ...withKeys(SECOND) });
  expect(stranger).toEqual({ code: 1, output: expect.stringContaining('(1 of them)') });
  expect(await readEncryptionKeys(db.sql)).toEqual([]);
  await (await start({ ...common, env: withKeys(FIRST, SECOND) })).stop();
  expect(await readEncryptionKeys(db.sql)).toEqual([first]);

  await (await start({ ...common, env: withKeys(SECOND, FIRST) })).stop();
  expect(await readEncryptionKeys(db.sql)).toEqual([first, second]);
  // With the first key alone, the node could not open values sealed with the new key. None exists
  // yet, but it refuses to start.
  const late = await runToEnd(MAIN, { ...environment, ...withKeys(FIRST) });
  expect(late).toEqual({ code: 1, output: expect.stringContaining(`use the encryption key ${second}, which`) });

  expect((await runToEnd(ROTATE, { ...environment, ...withKeys(SECOND, FIRST) })).code).toBe(0);
  expect(await readEncryptionKeys(db.sql)).toEqual([second]);
  await (await start({ ...common, env: withKeys(SECOND) })).stop();
  const { code, output } = await runToEnd(MAIN, { ...environment, ...withKeys(FIRST) });
  expect([code, output]).toEqual([1, expect.stringContaining(await keyIdOf(SECOND))]);
});

test('a lost key is replaced if nothing is sealed with it, and hw doctor explains the problem until then', async () => {
  const dataDir = makeDataDir();
  await (await start({ dataDir, env: withKeys('') })).stop();
  const lost = await keyIdIn(dataDir);
  expect(await doctorOf({ dataDir })).toMatchObject({ status: 'ok' });
  await rm(path.join(dataDir, 'encryption-key'));
  expect(await doctorOf({ dataDir })).toMatchObject({ status: 'fail', detail: expect.stringContaining(lost) });
  const refused = await runToEnd(MAIN, { HEADWATER_DATA_DIR: dataDir, PORT: String(await freePort()) });
  expect(refused).toEqual({ code: 1, output: expect.stringContaining(`encryption key ${lost}, which`) });
  expect(await doctorOf({ dataDir, encryptionKey: SECOND })).toMatchObject({
    status: 'fail',
    detail: expect.stringContaining(lost),
  });

  expect((await runToEnd(ROTATE, { HEADWATER_DATA_DIR: dataDir })).code).toBe(0);
  const server = await start({ dataDir, env: withKeys('') });
  await deploy(server, SECRET, { props: { token: 'hush' } });
  await server.stop();
  await writeFile(path.join(dataDir, 'encryption-key'), `${FIRST}\n`);
  await expect(rotateSecrets({ dataDir, log: testLog })).rejects.toMatchObject({ code: 'CONFLICT' });
});

test('a key that live nodes use is not replaced by one that they do not have', async () => {
  const { url: databaseUrl, db } = await newDatabase();
  const node = await start({ databaseUrl, env: withKeys('') });
  const options = { databaseUrl, dataDir: makeDataDir(), log: testLog };
  await expect(rotateSecrets(options)).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining(await keyIdIn(node.dataDir)),
  });
  expect(await readEncryptionKeys(db.sql)).toEqual([await keyIdIn(node.dataDir)]);
});
