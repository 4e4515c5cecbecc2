import { afterAll, beforeAll, expect, test } from 'vitest';
import { prepareDatabase } from '../../../engine/src/db/server/prepare-database.ts';
import { type Database, openDatabase } from '../../../engine/src/db/database.ts';
import { type CuttingProxy, startCuttingProxy } from '../../support/cutting-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/logs.ts';

let database: TestDatabase;
let [one, two]: CuttingProxy[] = [];
let url: string;
let db: Database;
const states: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  [one, two] = [await startCuttingProxy(database.url), await startCuttingProxy(database.url)];
  const { host } = new URL(two.url);
  url = one.url.replace(new URL(one.url).host, `${new URL(one.url).host},${host}`);
  db = openDatabase({
    url,
    maxConnections: 2,
    limits: { maxAwayWaitMs: 500 },
    onAway: ({ error }) => states.push((error as { code?: string }).code ?? ''),
    onBack: () => states.push('back'),
  });
});
afterAll(async () => {
  await db.close();
  for (const proxy of [one, two]) await proxy?.stop();
  await database.drop();
});

const portOf = (proxy: CuttingProxy | undefined) => new URL(proxy?.url ?? '').port;
const isUsable = () =>
  db.sql
    .begin((tx) => tx`select 1`)
    .then(
      () => true,
      () => false,
    );

test('the second of two servers is used while the first is away, and the first one while the second is', async () => {
  expect(await isUsable()).toBe(true);
  expect(new URL(db.currentUrl()).port).toBe(portOf(one));
  await one?.refuse();
  await eventually(isUsable);
  expect(new URL(db.currentUrl()).port).toBe(portOf(two));
  await one?.accept();
  await two?.refuse();
  await eventually(isUsable);
  expect(new URL(db.currentUrl()).port).toBe(portOf(one));
});

test('a start finds the server that is there', async () => {
  const prepared = await prepareDatabase({ databaseUrl: url, dataDir: '', log: testLog });
  expect(new URL(prepared.currentUrl).port).toBe(portOf(one));
});

test('servers that only follow are not used, until one is promoted', async () => {
  await two?.accept();
  const setReadOnly = async (value: 'on' | 'off') => {
    await database.db.sql.begin(async (tx) => {
      await tx`set transaction read write`;
      const [row] = await tx<{ name: string }[]>`select current_database() as name`;
      await tx`alter database ${tx(row?.name ?? '')} set default_transaction_read_only = ${tx.unsafe(value)}`;
    });
    await database.db.sql`
      select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
  };
  states.splice(0);
  await setReadOnly('on');
  await eventually(() => states.includes('CONNECTION_READ_ONLY'));
  expect(await isUsable()).toBe(false);
  await setReadOnly('off');
  await eventually(isUsable);
  expect(states).toEqual(['CONNECTION_READ_ONLY', 'back']);
});
