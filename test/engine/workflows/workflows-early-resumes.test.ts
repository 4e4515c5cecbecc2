import { LIMITS, newId } from '@headwater/shared';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createJobCrowds } from '../../../engine/src/db/jobs/job-crowds.ts';
import { commitExecutions } from '../../../engine/src/runs/commit/commit-executions.sql.ts';
import { PARKED, parkExecutions } from '../../../engine/src/workflows/run/park-executions.sql.ts';
import { resumeExecution } from '../../../engine/src/workflows/run/resume-execution.sql.ts';
import type { ExecutionCommit, ExecutionWait } from '../../../engine/src/runs/commit/execution-rows.ts';
import { blockedBy } from '../../support/blocked-backends.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { DONE_STEP } from '../../support/executions.ts';
import { insertAccount } from '../../support/source-rows.ts';

/** Without a node, which would wake resumed executions. */
let database: TestDatabase;
let accountId: string;
const workflowId = newId('workflow');
beforeAll(async () => {
  database = await createTestDatabase();
  accountId = await insertAccount(database.db.sql);
});
afterAll(() => database.drop());

const sql = () => database.db.sql;

/** A node runs the second run of its first step. */
async function secondRun(): Promise<string> {
  const id = newId('execution');
  await sql()`
    insert into invocations (id, account_id, source_id, kind, event, attempts, place, leased_by)
    values (${id}, ${accountId}, ${workflowId}, 'manual', '{}', 1, nextval('invocation_places'), 'node_x')`;
  await sql()`
    insert into execution_waits (execution_id, account_id, workflow_id, kind, position, runs, token, wake_at, context, bytes)
    values (${id}, ${accountId}, ${workflowId}, 'rerun', 0, 1, '0-1', now(), 'given', 5000)`;
  return id;
}

/** After that run the execution goes on. */
function commitOf(id: string, more: Partial<ExecutionCommit> = {}): ExecutionCommit {
  return {
    key: { id, accountId, workflowId, deploymentId: 'd_1' },
    lease: { leasedBy: 'node_x', claim: 1 },
    steps: [{ ...DONE_STEP, runs: 2 }],
    endsWait: true,
    start: { kind: 'manual', event: '{}', context: '{}', causedBy: undefined, traceId: id, startedAtMs: 1 },
    ...more,
  };
}

/** It waits for this run of this step. */
function parkOf(id: string, position: number, runs: number, kind: ExecutionWait['kind'] = 'suspend'): ExecutionCommit {
  const wait: ExecutionWait = {
    kind,
    position,
    runs,
    failures: 0,
    token: `${position}-${runs}`,
    wakeAtMs: Date.now() + 60_000,
    bytes: 6_000,
  };
  return commitOf(id, { steps: [{ ...DONE_STEP, position, runs }], wait });
}

const bring = (id: string, position: number, runs: number, data: string) =>
  resumeExecution(sql(), { id, token: `${position}-${runs}`, position, runs, isOurs: true, data });

async function waitOf(id: string) {
  const [row] = await sql()`
    select kind, token, resume_data, early_token, early_data, bytes,
      extract(epoch from wake_at - clock_timestamp())::float8 as wakes_in
    from execution_waits where execution_id = ${id}`;
  return row;
}

test('an early resume is kept beside the earlier wait, counts, and belongs to its own wait later', async () => {
  const id = await secondRun();
  expect(await bring(id, 0, 2, '"yes"')).toBe(accountId);
  expect(await waitOf(id)).toMatchObject({ kind: 'rerun', token: '0-1', early_token: '0-2', bytes: 5_005 });
  // Once.
  expect(await bring(id, 0, 2, '"again"')).toBeUndefined();
  await parkExecutions(sql(), [parkOf(id, 0, 2)], createJobCrowds());
  expect(await waitOf(id)).toMatchObject({
    kind: 'suspend',
    token: '0-2',
    resume_data: '"yes"',
    early_token: null,
    bytes: 6_005,
  });
});

test('an early resume for the next step is kept when the step before it is written', async () => {
  const id = await secondRun();
  expect(await bring(id, 0, 2, '"of the first"')).toBe(accountId);
  expect(await bring(id, 1, 1, '"yes"')).toBe(accountId);
  expect(await bring(id, 0, 2, '"of the first, late"')).toBeUndefined();
  expect((await waitOf(id))?.bytes).toBe(5_005);
  await commitExecutions(sql(), [commitOf(id)]);
  const kept = { kind: 'early', token: '1-1', resume_data: '"yes"', early_token: null };
  expect(await waitOf(id)).toMatchObject({ ...kept, bytes: LIMITS.waitingOverheadBytes + 5 });
  // A commit that went through unseen is made once more.
  await commitExecutions(sql(), [commitOf(id)]);
  expect(await waitOf(id)).toMatchObject(kept);
  await parkExecutions(sql(), [{ ...parkOf(id, 1, 1), endsWait: false }], createJobCrowds());
  expect(await waitOf(id)).toMatchObject({ kind: 'suspend', token: '1-1', resume_data: '"yes"' });
});

/** Leases a parked execution to a node again. */
async function runAgain(id: string): Promise<void> {
  await sql()`update invocations set leased_by = 'node_x' where id = ${id}`;
}

test('an early resume for a run that fails is kept for its retry, over each further failure', async () => {
  const id = await secondRun();
  expect(await bring(id, 0, 2, '"yes"')).toBe(accountId);
  for (const runs of [2, 3, 4]) {
    await parkExecutions(sql(), [parkOf(id, 0, runs, 'retry')], createJobCrowds());
    const wait = await waitOf(id);
    expect(wait).toMatchObject({
      kind: 'retry',
      token: `0-${runs}`,
      resume_data: null,
      early_token: '0-2',
      bytes: 6_005,
    });
    expect(wait?.wakes_in).toBeGreaterThan(30);
    // The link of the run that has failed is not good any more.
    expect(await bring(id, 0, 2, '"late"')).toBeUndefined();
    await runAgain(id);
    expect(await bring(id, 0, 2, '"late"')).toBeUndefined();
  }
  await parkExecutions(sql(), [parkOf(id, 0, 5)], createJobCrowds());
  const wait = await waitOf(id);
  expect(wait).toMatchObject({ kind: 'suspend', token: '0-5', resume_data: '"yes"', early_token: null, bytes: 6_005 });
  expect(wait?.wakes_in).toBeLessThanOrEqual(0);
});

test('a resume for the retry is used before one for the failed run', async () => {
  const id = await secondRun();
  expect(await bring(id, 0, 2, '"first"')).toBe(accountId);
  await parkExecutions(sql(), [parkOf(id, 0, 2, 'retry')], createJobCrowds());
  await runAgain(id);
  expect(await bring(id, 0, 3, '"second!"')).toBe(accountId);
  await parkExecutions(sql(), [parkOf(id, 0, 3)], createJobCrowds());
  expect(await waitOf(id)).toMatchObject({ token: '0-3', resume_data: '"second!"', bytes: 6_009 });
});

test('an early resume for a step that does not wait in the end is not used for the next step', async () => {
  const id = await secondRun();
  expect(await bring(id, 0, 2, '"yes"')).toBe(accountId);
  await parkExecutions(sql(), [parkOf(id, 0, 2, 'retry')], createJobCrowds());
  await runAgain(id);
  const steps = [3, 1].map((runs, position) => ({ ...DONE_STEP, position, runs }));
  await parkExecutions(sql(), [{ ...parkOf(id, 1, 1), steps }], createJobCrowds());
  expect(await waitOf(id)).toMatchObject({ kind: 'suspend', token: '1-1', resume_data: null, early_token: null });
});

test('an early resume for a step that does not wait is deleted with the end', async () => {
  const id = await secondRun();
  expect(await bring(id, 0, 2, '"yes"')).toBe(accountId);
  await commitExecutions(sql(), [commitOf(id, { end: { status: 'succeeded', endedAtMs: 2 } })]);
  expect(await waitOf(id)).toBeUndefined();
});

test('a resume during the write of the earlier run is kept', async () => {
  const id = await secondRun();
  let written: Promise<unknown> | undefined;
  await sql().begin(async (tx) => {
    // As a resume that arrives early does.
    await tx`select from invocations where id = ${id} for no key update`;
    await tx`
      update execution_waits set early_token = '1-1', early_position = 1, early_runs = 1, early_data = '1'
      where execution_id = ${id}`;
    written = commitExecutions(sql(), [commitOf(id)]);
    await eventually(async () => (await blockedBy(tx)).length > 0);
  });
  await written;
  expect(await waitOf(id)).toMatchObject({ kind: 'early', token: '1-1', resume_data: '1' });
});

test('a resume and the parking of its execution do not wait for each other', async () => {
  const id = await secondRun();
  let both: Promise<unknown> | undefined;
  await sql().begin(async (tx) => {
    // Another one that brings something: the step is written and its wait deleted, the lease is not
    // changed yet.
    await tx`select from invocations where id = ${id} for share`;
    const parked = parkExecutions(sql(), [parkOf(id, 0, 2)], createJobCrowds()).then((ours) => [...ours]);
    await eventually(async () => (await blockedBy(tx)).length === 1);
    const brought = bring(id, 0, 2, '"yes"');
    both = Promise.all([parked, brought]);
    both.catch(() => undefined);
    await eventually(async () => (await waitingForLocks()) === 2);
  });
  expect(await both).toEqual([[expect.objectContaining({ key: expect.objectContaining({ id }) })], accountId]);
  expect(await waitOf(id)).toMatchObject({ kind: 'suspend', token: '0-2', resume_data: '"yes"' });
  const [row] = await sql()<{ leased_by: string }[]>`select leased_by from invocations where id = ${id}`;
  expect(row?.leased_by).toBe(PARKED);
});

async function waitingForLocks(): Promise<number> {
  const [row] = await sql()<{ count: number }[]>`
    select count(*)::int4 as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return row?.count ?? 0;
}
