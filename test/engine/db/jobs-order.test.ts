import { expect, it } from 'vitest';
import { addJobs } from '../../../engine/src/db/jobs/add-jobs.ts';
import { databaseOfTests } from '../../support/database-of-tests.ts';

const database = databaseOfTests();

it('jobs are added in the order of their keys, in which no two transactions wait for each other', async () => {
  const { sql } = database.db;
  const keys = ['job:c', 'job:a', 'job:b'];
  await addJobs(
    sql,
    keys.map((key) => ({ task: 'none', payload: {}, key })),
  );
  const rows = await sql<{ key: string }[]>`select key from graphile_worker.jobs where key like 'job:%' order by id`;
  expect(rows.map(({ key }) => key)).toEqual(keys.toSorted());
});
