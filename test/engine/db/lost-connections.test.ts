import { afterAll, beforeAll, expect, test } from 'vitest';
import { createJobPool } from '../../../engine/src/db/jobs/job-pool.ts';
import { commitRuns } from '../../../engine/src/runs/commit/commit-runs.sql.ts';
import { type Database, openDatabase } from '../../../engine/src/db/database.ts';
import { type CuttingProxy, startCuttingProxy } from '../../support/cutting-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { testLog } from '../../support/logs.ts';
import { insertAccount, insertSource } from '../../support/source-rows.ts';

let database: TestDatabase;
let proxy: CuttingProxy;
let cutOff: Database;
let accountId: string;
let sourceId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startCuttingProxy(database.url);
  cutOff = openDatabase({ url: proxy.url, maxConnections: 2, limits: { probeAfterMs: 200 } });
  accountId = await insertAccount(database.db.sql);
  sourceId = await insertSource(database.db.sql, accountId);
});
afterAll(async () => {
  await cutOff.close();
  await proxy.stop();
  await database.drop();
});

async function isUsable(): Promise<boolean> {
  const [row] = await cutOff.sql<{ one: number }[]>`select 1 as one`;
  return row?.one === 1;
}

test('the server ends the sessions of a vanished node, and its locks are free', async () => {
  const [row] = await cutOff.sql`show idle_in_transaction_session_timeout`;
  const pool = createJobPool({ databaseUrl: database.url, maxConnections: 1, log: testLog });
  const { rows } = await pool.query('show idle_in_transaction_session_timeout');
  await pool.end();
  const expected = { idle_in_transaction_session_timeout: '30s' };
  expect([row, rows[0]]).toEqual([expected, expected]);
});

// A write to the connection that was lost ended the process.
test('a transaction that loses its connection rejects, and the next one has another', async () => {
  for (let round = 0; round < 5; round++) {
    const lost = cutOff.sql.begin(async (tx) => {
      await tx`select 1`;
      proxy.cut();
      await tx`select 2`;
    });
    await expect(lost).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
    proxy.pass();
    expect(await isUsable()).toBe(true);
  }
});

test('a transaction that fails otherwise is rolled back, on a connection that is used again', async () => {
  const { sql } = cutOff;
  const fail = sql.begin(async (tx) => {
    await tx`update accounts set name = 'changed' where id = ${accountId}`;
    throw new Error('no');
  });
  await expect(fail).rejects.toThrow('no');
  await expect(sql.begin((tx) => tx`select * from nothing`)).rejects.toMatchObject({ code: '42P01' });
  const [account] = await sql<{ name: string }[]>`select name from accounts where id = ${accountId}`;
  expect(account?.name).not.toBe('changed');
});

test('a list of queries is a transaction as well', async () => {
  const rows = await cutOff.sql.begin((tx) => [tx`select 1 as one`, tx`select 2 as two`]);
  expect(rows.map((found) => found[0])).toEqual([{ one: 1 }, { two: 2 }]);
  const fail = cutOff.sql.begin((tx) => [tx`update accounts set name = 'changed'`, tx`select * from nothing`]);
  await expect(fail).rejects.toMatchObject({ code: '42P01' });
  const [account] = await cutOff.sql<{ name: string }[]>`select name from accounts where id = ${accountId}`;
  expect(account?.name).not.toBe('changed');
});

test('a commit of runs that loses its connection rejects, and the next one goes through', async () => {
  const run = {
    accountId,
    sourceId,
    final: true,
    dedupe: undefined,
    emits: [{ data: '1', emittedAtMs: 1 }],
    dbWrites: new Map<string, string>(),
  };
  const options = { nodeId: 'node_a', deliveryCapacity: () => 0, runCapacity: () => 0, nowMs: Date.now };
  for (let round = 0; round < 5; round++) {
    proxy.cut();
    await expect(commitRuns(cutOff.sql, [run], options)).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
    proxy.pass();
    expect(await commitRuns(cutOff.sql, [run], options)).toMatchObject([{ committed: true, events: 1 }]);
  }
});

// The database itself answers: as behind a firewall that has forgotten them.
test('silent connections are given up: repeatable statements use others, and others reject', async () => {
  const { sql } = cutOff;
  expect(await Promise.all([isUsable(), isUsable()])).toEqual([true, true]);
  proxy.silence();
  const read = isUsable();
  const unbegun = sql.begin((tx) => tx<{ one: number }[]>`select 1 as one`);
  expect(await read).toBe(true);
  expect(await unbegun).toEqual([{ one: 1 }]);
  const begun = sql.begin(async (tx) => {
    await tx`select 1`;
    proxy.silence();
    await tx`select 2`;
  });
  await expect(begun).rejects.toMatchObject({ code: 'CONNECTION_SILENT' });
  expect(await Promise.all([isUsable(), isUsable(), isUsable()])).toEqual([true, true, true]);
});
