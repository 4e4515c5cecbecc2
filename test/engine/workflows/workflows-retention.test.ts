import { newId } from '@headwater/shared';
import { expect, test } from 'vitest';
import { createRetention } from '../../../engine/src/cluster/retention/retention.ts';

import { insertAccount } from '../../support/source-rows.ts';
import { databaseOfTests } from '../../support/database-of-tests.ts';

const DAY_MS = 24 * 3600 * 1000;
const NOW_MS = Date.UTC(2026, 5, 1);

const database = databaseOfTests();

const sql = () => database.db.sql;

async function workflow(accountId: string, deleted = false): Promise<string> {
  const id = newId('workflow');
  await sql()`
    insert into emitters (id, kind, account_id, user_id, name, name_slug, deployed_at, deleted_at)
    values (${id}, 'workflow', ${accountId}, ${accountId}, 'w', ${id}, now(), ${deleted ? sql()`now()` : null})`;
  return id;
}

/** `age` in days; one that has not ended waits. */
async function execution(accountId: string, workflowId: string, age: number, hasEnded = true): Promise<string> {
  const atMs = NOW_MS - age * DAY_MS;
  const id = newId('execution', atMs);
  await sql()`
    insert into executions (id, account_id, workflow_id, deployment_id, kind, status, event, context, trace_id, started_at, ended_at)
    values (${id}, ${accountId}, ${workflowId}, 'd_1', 'http', ${hasEnded ? 'succeeded' : 'waiting'}, '{}', '{}', ${id},
      to_timestamp(${atMs}::float8 / 1000), ${hasEnded ? sql()`to_timestamp(${atMs}::float8 / 1000)` : null})`;
  await sql()`
    insert into execution_steps (execution_id, position, account_id, deployment_id, namespace, status, runs, exports, logs, started_at, ended_at)
    select ${id}, n, ${accountId}, 'd_1', 's' || n, 'done', 1, '{}', '[]', now(), now() from generate_series(0, 1) n`;
  return id;
}

test('executions and their steps are kept as long as the account keeps its events, and while they wait', async () => {
  const [short, long] = [await insertAccount(sql(), { eventRetentionDays: 5 }), await insertAccount(sql())];
  const [mine, gone, theirs] = [await workflow(short), await workflow(short, true), await workflow(long)];
  const [kept, waiting, other] = [
    await execution(short, mine, 4),
    await execution(short, mine, 400, false),
    await execution(long, theirs, 6),
  ];
  await execution(short, mine, 6);
  await execution(short, gone, 6);
  const turn = createRetention({ sql: sql(), defaultDays: 30, defaultVersions: 20, nowMs: () => NOW_MS });
  expect(await turn()).toBe('nothing');
  const ids = async (rows: PromiseLike<{ id: string }[]>) => (await rows).map(({ id }) => id).toSorted();
  const left = [kept, waiting, other].toSorted();
  expect(await ids(sql()<{ id: string }[]>`select id from executions`)).toEqual(left);
  expect(await ids(sql()<{ id: string }[]>`select distinct execution_id as id from execution_steps`)).toEqual(left);
});

test('events of workflows are deleted as those of sources are', async () => {
  const accountId = await insertAccount(sql(), { eventRetentionDays: 5 });
  const id = await workflow(accountId);
  const ms = [4, 6].map((age) => NOW_MS - age * DAY_MS);
  await sql()`
    insert into events (emitter_id, indexed_at_ms, seq, account_id, channel, data)
    select ${id}, ms, 0, ${accountId}, '', '1' from unnest(${ms}::int8[]) as e(ms)`;
  await createRetention({ sql: sql(), defaultDays: 30, defaultVersions: 20, nowMs: () => NOW_MS })();
  const rows = await sql()<{ indexed_at_ms: number }[]>`select indexed_at_ms from events where emitter_id = ${id}`;
  expect(rows.map((row) => row.indexed_at_ms)).toEqual([ms[0]]);
});
