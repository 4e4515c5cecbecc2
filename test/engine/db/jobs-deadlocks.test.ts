import { afterEach, expect, test } from 'vitest';
import { type JobRunner, startJobRunner } from '../../../engine/src/db/jobs/job-runner.ts';
import { addJobs } from '../../../engine/src/db/jobs/add-jobs.ts';
import { unlockJobs } from '../../../engine/src/db/jobs/unlock-jobs.ts';
import { databaseOfTests } from '../../support/database-of-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/logs.ts';

const ADDERS = 6;
const ROUNDS = 40;
const KEYS = 40;

const database = databaseOfTests();
const runners: JobRunner[] = [];
afterEach(async () => {
  await Promise.all(runners.splice(0).map((runner) => runner.stop()));
  await database.db.sql`delete from graphile_worker._private_jobs`;
});

/** Answers the names of its pools: a second one means that it was started again. */
async function startRunner(lane: (name: string) => Promise<void>): Promise<string[]> {
  const pools: string[] = [];
  runners.push(
    await startJobRunner({
      databaseUrl: database.url,
      log: testLog,
      onPool: (poolId) => pools.push(poolId),
      tasks: { lane: (payload) => lane((payload as { name: string }).name) },
    }),
  );
  return pools;
}

const specOf = (name: string) => ({ task: 'lane', payload: { name }, key: `lane:${name}` });
const add = (...names: string[]) => addJobs(database.db.sql, names.map(specOf));

interface JobRow {
  key: string | null;
  locked_by: string | null;
  is_available: boolean;
}
const jobs = () => database.db.sql<JobRow[]>`select key, locked_by, is_available from graphile_worker._private_jobs`;
const allEnded = () => eventually(async () => (await jobs()).length === 0);

test('jobs that are added while jobs of the same keys run and end are no deadlock', async () => {
  const { sql } = database.db;
  const deadlocks = async () => {
    await sql`select pg_stat_force_next_flush()`;
    const [row] = await sql<{ count: number }[]>`
      select deadlocks::int4 as count from pg_stat_database where datname = current_database()`;
    return row?.count;
  };
  const pools = [await startRunner(async () => undefined), await startRunner(async () => undefined)];
  const addSome = async (adder: number) => {
    for (let round = 0; round < ROUNDS; round++) {
      const names = Array.from({ length: 12 }, (_, i) => String((round * 7 + adder * 5 + i * 3) % KEYS));
      await sql.begin(async (tx) => {
        await addJobs(tx, names.map(specOf));
        // Others add and end jobs meanwhile.
        await tx`select pg_sleep(0.002)`;
      });
    }
  };
  await Promise.all(Array.from({ length: ADDERS }, (_, adder) => addSome(adder)));
  await allEnded();
  expect(await deadlocks()).toBe(0);
  expect(pools.flat()).toHaveLength(2);
});

test('connections that are ended while jobs are taken and reported end no runner, and lose no job', async () => {
  const { sql } = database.db;
  const ran = new Set<string>();
  const pools = await startRunner(async (name) => void ran.add(name));
  for (let round = 0; round < 20; round++) {
    await add(...Array.from({ length: 20 }, (_, i) => `${round}-${i}`));
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'headwater-jobs' and datname = current_database()`;
  }
  // Long before the locked jobs are considered lost.
  await eventually(async () => ran.size === 400 && (await jobs()).length === 0, { timeoutMs: 8_000 });
  expect(pools).toHaveLength(1);
});

test('a job that fails is tried again soon, however often it has failed, and never given up', async () => {
  let isBroken = true;
  const tries: number[] = [];
  await startRunner(async () => {
    tries.push(performance.now());
    if (isBroken) throw new Error(`no \0 \ud800`);
  });
  await add('broken');
  await eventually(() => tries.length === 3);
  expect((tries[2] as number) - (tries[0] as number)).toBeLessThan(5_000);
  const isReported = async () => (await jobs()).every(({ locked_by: by }) => by === null);
  await eventually(isReported);
  // As before its last try.
  await database.db.sql`update graphile_worker._private_jobs set attempts = max_attempts - 1, run_at = now()`;
  await eventually(async () => tries.length > 3 && (await isReported()));
  expect(await jobs()).toMatchObject([{ is_available: true }]);
  isBroken = false;
  await database.db.sql`update graphile_worker._private_jobs set run_at = now()`;
  await allEnded();
});

test('a job that another pool has by now is not ended by the one that had it before', async () => {
  const { sql } = database.db;
  const end = Promise.withResolvers<void>();
  let isRunning = false;
  await startRunner(async (name) => {
    isRunning = true;
    if (name === 'slow') await end.promise;
  });
  await add('slow');
  await eventually(() => isRunning);
  await sql`update graphile_worker._private_jobs set locked_by = 'pool-other'`;
  end.resolve();
  await add('after');
  await eventually(async () => (await jobs()).length === 1);
  expect(await jobs()).toMatchObject([{ key: 'lane:slow', locked_by: 'pool-other' }]);
});

test('superseded jobs of a dead pool are deleted, and its other jobs run elsewhere', async () => {
  const { sql } = database.db;
  await add('superseded', 'started');
  await sql`update graphile_worker._private_jobs set locked_by = 'pool-dead', locked_at = now(), attempts = 1`;
  await add('superseded');
  expect(await jobs()).toHaveLength(3);
  await unlockJobs(sql, ['pool-dead']);
  const left = await jobs();
  expect(left.map(({ key }) => String(key)).toSorted()).toEqual(['lane:started', 'lane:superseded']);
  expect(left.every(({ is_available: isAvailable }) => isAvailable)).toBe(true);
});

test('a job that is superseded while it fails leaves nothing behind', async () => {
  const begun: string[] = [];
  const fail = Promise.withResolvers<void>();
  await startRunner(async (name) => {
    begun.push(name);
    if (begun.length === 1) await fail.promise;
  });
  await add('again');
  await eventually(() => begun.length === 1);
  await add('again');
  fail.reject(new Error('no'));
  await eventually(() => begun.length === 2);
  await allEnded();
  expect(begun).toEqual(['again', 'again']);
});
