import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startJobRunner } from '../../../engine/src/db/jobs/job-runner.ts';
import { addJobs } from '../../../engine/src/db/jobs/add-jobs.ts';
import { type Database, openDatabase } from '../../../engine/src/db/database.ts';
import { retryWhileAway } from '../../../engine/src/db/lost-connection.ts';
import { type CuttingProxy, startCuttingProxy } from '../../support/cutting-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/logs.ts';

let database: TestDatabase;
let proxy: CuttingProxy;
let node: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startCuttingProxy(database.url);
  node = openDatabase({ url: proxy.url, maxConnections: 3, limits: { maxAwayWaitMs: 500 } });
});
afterAll(async () => {
  await node.close();
  await proxy.stop();
  await database.drop();
});

// The runner ended for good when a job that had ended could not be reported, and the process where
// one had failed.
test('jobs are run again after all connections were ended while some ran', async () => {
  const ran: string[] = [];
  let refusing: Promise<void> | undefined;
  const runner = await startJobRunner({
    databaseUrl: proxy.url,
    onPool: () => undefined,
    log: testLog,
    tasks: {
      'fire-timer': async (payload) => {
        const { name } = payload as { name: string };
        ran.push(name);
        if (name === 'last') return;
        refusing = proxy.refuse();
        if (name === 'failing') throw new Error('no');
      },
    },
  });
  const add = (name: string) => addJobs(database.db.sql, [{ task: 'fire-timer', payload: { name }, key: name }]);
  for (const name of ['ending', 'failing']) {
    await add(name);
    await eventually(() => ran.includes(name), { timeoutMs: 15_000 });
    await refusing;
    // Until it has tried to report the job.
    await sleep(500);
    await proxy.accept();
  }
  await add('last');
  await eventually(() => ran.includes('last'), { timeoutMs: 15_000 });
  expect(ran).toEqual(expect.arrayContaining(['ending', 'failing']));
  await runner.stop();
});

test('jobs are run on when the connections that find them fall silent', async () => {
  await database.db.sql`delete from graphile_worker._private_jobs`;
  const ran: string[] = [];
  const runner = await startJobRunner({
    databaseUrl: proxy.url,
    onPool: () => undefined,
    silenceMs: 500,
    log: testLog,
    tasks: { 'fire-timer': async (payload) => void ran.push((payload as { name: string }).name) },
  });
  const add = (name: string) => addJobs(database.db.sql, [{ task: 'fire-timer', payload: { name }, key: name }]);
  for (const name of ['before', 'after', 'after once more']) {
    await add(name);
    await eventually(() => ran.includes(name), { timeoutMs: 15_000 });
    proxy.silence();
  }
  expect(ran).toEqual(['before', 'after', 'after once more']);
  await runner.stop();
});

test('a query of a run while the database is away is answered when it is back', async () => {
  const ask = () => retryWhileAway(async () => node.sql<{ answer: number }[]>`select 42::int4 as answer`);
  await ask();
  await proxy.refuse();
  const asked = [ask(), ask(), ask()];
  await sleep(1_000);
  await proxy.accept();
  expect((await Promise.all(asked)).flat().map(({ answer }) => answer)).toEqual([42, 42, 42]);
  await expect(retryWhileAway(async () => node.sql`select 1 / 0`)).rejects.toThrow('division by zero');
});

// Each transaction that could not begin took a connection out of the pool. A pending write to a
// lost connection closed that connection for later transactions.
test('a node has all its connections again after the database could not be reached', async () => {
  const { sql } = node;
  const work = (id: number) => sql.begin(async (tx) => tx`select ${id}::int4 as id, pg_sleep(0.01)`);
  for (let round = 0; round < 3; round++) {
    const interrupted = [1, 2, 3, 4, 5, 6].map(work);
    await proxy.refuse();
    await Promise.allSettled([...interrupted, ...[1, 2, 3, 4, 5, 6].map(work)]);
    await proxy.accept();
  }
  await eventually(() =>
    work(0).then(
      () => true,
      () => false,
    ),
  );
  const pause = new Promise((_, reject) => setTimeout(reject, 60_000, new Error('no connection is left')));
  const rows = await Promise.race([Promise.all([1, 2, 3, 4, 5, 6].map(work)), pause]);
  expect(rows).toHaveLength(6);
});
