import { LIMITS } from '@headwater/shared';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createHistory, type History } from '../../../engine/src/cluster/retention/history.ts';
import { wasCommitted } from '../../../engine/src/db/add-counted.ts';
import type { Database } from '../../../engine/src/db/database.ts';
import { type CutOffDatabase, startCutOffDatabase } from '../../support/cut-off-database.ts';
import type { CuttingProxy } from '../../support/cutting-proxy.ts';
import type { TestDatabase } from '../../support/database.ts';
import { testLog } from '../../support/logs.ts';
import { insertAccount } from '../../support/source-rows.ts';

let world: CutOffDatabase;
let database: TestDatabase;
let proxy: CuttingProxy;
let cutOff: Database;
let history: History;
let accountId: string;

beforeAll(async () => {
  world = await startCutOffDatabase();
  ({ database } = world);
});
afterAll(() => world.stop());
beforeEach(async () => {
  ({ proxy, cutOff } = await world.connect());
  accountId = await insertAccount(database.db.sql);
  const limits = { defaultBytes: 1024 ** 3, defaultDays: 0, onCut: () => undefined };
  history = createHistory({ sql: cutOff.sql, ...limits, nowMs: () => LIMITS.historyPartMs, log: testLog });
});

async function counted(): Promise<{ sum: number; parts: number }> {
  const [row] = await database.db.sql<{ sum: number; parts: number }[]>`
    select (select bytes from account_histories where account_id = ${accountId}) as sum,
      (select sum(bytes)::int8 from history_parts where account_id = ${accountId}) as parts`;
  return { sum: row?.sum ?? 0, parts: row?.parts ?? 0 };
}

test('a count is added once even if the answer to the commit is lost', async () => {
  history.add(accountId, 1_000);
  proxy.cutAt('commit');
  await expect(history.turn()).rejects.toThrow('The connection was lost');
  proxy.pass();
  expect(await counted()).toEqual({ sum: 1_000, parts: 1_000 });
  history.add(accountId, 20);
  await history.turn();
  await history.turn();
  expect(await counted()).toEqual({ sum: 1_020, parts: 1_020 });
});

test.each([
  { lost: 'the commit', words: 'commit' },
  { lost: 'the statement', words: 'history_parts' },
])('a count is added even if $lost is lost with its connection', async ({ words }) => {
  history.add(accountId, 1_000);
  proxy.cutAt(words, false);
  await expect(history.turn()).rejects.toThrow('The connection was lost');
  proxy.pass();
  expect(await counted()).toEqual({ sum: 0, parts: 0 });
  history.add(accountId, 20);
  await history.turn();
  await history.turn();
  expect(await counted()).toEqual({ sum: 1_020, parts: 1_020 });
});

test('a transaction that has not ended is asked for again, and one of which the server knows nothing was not committed', async () => {
  const { sql } = database.db;
  let transaction = '';
  await sql.begin(async (tx) => {
    const [row] = await tx<{ id: string }[]>`select pg_current_xact_id()::text as id`;
    transaction = row?.id ?? '';
    expect(await wasCommitted(sql, transaction)).toBeUndefined();
  });
  expect(await wasCommitted(sql, transaction)).toBe(true);
  expect(await wasCommitted(sql, String(Number(transaction) + 1_000_000))).toBe(false);
});
