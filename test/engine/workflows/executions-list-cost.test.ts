import { newId } from '@headwater/shared';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ExecutionStatus } from '../../../engine/src/contract/workflows.ts';
import type { Sql } from '../../../engine/src/db/database.ts';
import { countExecutions, listExecutionIds } from '../../../engine/src/observe/read-executions.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { insertAccount } from '../../support/source-rows.ts';
import { insertTurnWorkflow } from '../../support/turn-rows.ts';

const FAILED = 20_000;
const SUCCEEDED = 30;

let database: TestDatabase;
let accountId: string;
let workflowId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  const { sql } = database.db;
  accountId = await insertAccount(sql);
  workflowId = await insertTurnWorkflow(sql, accountId, {});
  // The oldest and the newest have succeeded, everything between them has failed.
  await insert('succeeded', SUCCEEDED / 2, Date.now() - 100_000);
  await insert('failed', FAILED, Date.now() - 50_000);
  await insert('succeeded', SUCCEEDED / 2, Date.now());
  await sql`analyze executions`;
});
afterAll(() => database.drop());

async function insert(status: ExecutionStatus, count: number, fromMs: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, n) => newId('execution', fromMs + n));
  await database.db.sql`
    insert into executions (id, account_id, workflow_id, deployment_id, kind, status, event, context, trace_id, started_at, ended_at)
    select id, ${accountId}, ${workflowId}, 'd_1', 'http', ${status}, '{}', '{}', id, now(), now() from unnest(${ids}::text[]) as e(id)`;
}

/** Answer of `read`, and the number of executions rows that it read. */
async function costOf<T>(read: (sql: Sql) => Promise<T>): Promise<{ answer: T; rows: number }> {
  const run = database.db.sql.begin(async (tx) => {
    const answer = await read(tx as unknown as Sql);
    const [cost] = await tx<{ rows: number }[]>`
      select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as rows from pg_stat_xact_user_tables where relname = 'executions'`;
    return { answer, rows: cost?.rows ?? 0 };
  });
  return run as Promise<{ answer: T; rows: number }>;
}

const list = (sql: Sql, more: { before?: string; after?: string } = {}) =>
  listExecutionIds(sql, accountId, workflowId, { limit: 20, statuses: ['succeeded'], ...more });

test('a list of succeeded executions reads no failed ones, in either direction', async () => {
  const first = await costOf((sql) => list(sql));
  expect(first.answer).toHaveLength(20);
  expect(first.rows).toBeLessThan(100);
  const after = first.answer.at(-1) ?? '';
  const second = await costOf((sql) => list(sql, { after }));
  expect(second.answer).toHaveLength(SUCCEEDED - 20);
  expect(second.rows).toBeLessThan(100);
  const back = await costOf((sql) => list(sql, { before: second.answer[0] ?? '' }));
  expect(back.answer).toEqual(first.answer);
  expect(back.rows).toBeLessThan(100);
});

test('the count of succeeded executions reads no failed ones', async () => {
  const { answer, rows } = await costOf((sql) =>
    countExecutions(sql, accountId, workflowId, { statuses: ['succeeded'] }, 10_000),
  );
  expect(answer).toBe(SUCCEEDED);
  expect(rows).toBeLessThan(100);
});
