import { LIMITS, newId } from '@headwater/shared';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createJobCrowds } from '../../../engine/src/db/jobs/job-crowds.ts';
import { executionBytes } from '../../../engine/src/runs/commit/history-bytes.ts';
import { PARKED, parkExecutions } from '../../../engine/src/workflows/run/park-executions.sql.ts';
import { readWaitingBytes } from '../../../engine/src/runs/counts/counts.sql.ts';
import { resumeExecution } from '../../../engine/src/workflows/run/resume-execution.sql.ts';
import { createExecutionCommitter } from '../../../engine/src/workflows/run/execution-committer.ts';
import type { ExecutionCommit, ExecutionWait } from '../../../engine/src/runs/commit/execution-rows.ts';
import { blockedBy } from '../../support/blocked-backends.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { action, DONE_STEP, untilExecutions } from '../../support/executions.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { testLog } from '../../support/logs.ts';
import { post } from '../../support/server.ts';
import { insertAccount } from '../../support/source-rows.ts';
import { insertWorkflow } from '../../support/workflow-rows.ts';

let hw: Headwater;
/** Without a node, which would wake resumed executions. */
let database: TestDatabase;
let accountId: string;
let workflowId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  accountId = await insertAccount(database.db.sql);
  workflowId = newId('workflow');
  hw = await startHeadwater();
});
afterAll(async () => {
  await hw.stop();
  await database.drop();
});

const GIVEN = 50_000;

async function started(code: string) {
  const steps = [{ namespace: 'again', code: action(code) }];
  const { id, endpointKey } = await insertWorkflow(hw.sql, { accountId: hw.accountId, steps });
  expect((await post(`${hw.url}/e/${endpointKey}`, {})).status).toBe(200);
  return id;
}

test('the context of the next run counts while it waits', async () => {
  await hw.limit({ maxWaitingBytes: 65_536 });
  const wait = (chars: number) => started(`$.flow.rerun(3_600_000, 'x'.repeat(${chars}));`);
  const [over] = await untilExecutions(hw.sql, await wait(2 * GIVEN), 1);
  expect(over).toMatchObject({
    status: 'failed',
    error: { code: 'RESOURCE_LIMIT', limit: { name: 'maxWaitingBytes', value: 65_536 }, namespace: 'again' },
  });
  await hw.limit({ maxWaitingBytes: 2 * 65_536 });
  const id = await wait(GIVEN);
  const [waiting] = await untilExecutions(hw.sql, id, 1, ['waiting']);
  const [row] = await hw.sql<{ bytes: number; given: number }[]>`
    select bytes, octet_length(context) as given from execution_waits where execution_id = ${waiting?.id ?? ''}`;
  expect(row?.given).toBeGreaterThan(GIVEN);
  expect(row?.bytes).toBeGreaterThan((row?.given ?? 0) + LIMITS.waitingOverheadBytes);
  expect((await readWaitingBytes(hw.sql)).get(hw.accountId)).toBe(row?.bytes);
  await hw.api('POST', `/executions/${waiting?.id}/cancel`);
  expect((await readWaitingBytes(hw.sql)).get(hw.accountId)).toBeUndefined();
});

test('a context passed from run to run counts once', async () => {
  await hw.limit({ maxWaitingBytes: 4 * 65_536 });
  const id = await started(`$.flow.rerun(1, 'x'.repeat(${GIVEN}), 20); return $.context.run.runs;`);
  expect(await untilExecutions(hw.sql, id, 1)).toMatchObject([{ status: 'succeeded', steps: [{ runs: 21 }] }]);
});

test('a row of an earlier version counts what it holds', async () => {
  const { sql } = database.db;
  const old = await insertAccount(sql);
  await sql`
    insert into execution_waits (execution_id, account_id, workflow_id, kind, position, runs, token, wake_at, context, resume_data)
    values (${newId('execution')}, ${old}, ${workflowId}, 'rerun', 0, 1, 't', now(), ${'v'.repeat(GIVEN)}, ${'"ř"'})`;
  expect((await readWaitingBytes(sql)).get(old)).toBe(GIVEN + 4);
});

const DATA = JSON.stringify('ř'.repeat(1_000));
const DATA_BYTES = Buffer.byteLength(DATA);
const TOKEN = 'token';

async function bytesOf(id: string): Promise<number | undefined> {
  const [row] = await database.db.sql<
    { bytes: number }[]
  >`select bytes from execution_waits where execution_id = ${id}`;
  return row?.bytes;
}

async function invocation(leasedBy: string): Promise<string> {
  const id = newId('execution');
  await database.db.sql`
    insert into invocations (id, account_id, source_id, kind, event, attempts, place, leased_by)
    values (${id}, ${accountId}, ${workflowId}, 'manual', '{}', 1, nextval('invocation_places'), ${leasedBy})`;
  return id;
}

function parkOf(id: string, wait: Partial<ExecutionWait> = {}): ExecutionCommit & { wait: ExecutionWait } {
  return {
    key: { id, accountId, workflowId, deploymentId: 'd_1' },
    lease: { leasedBy: 'node_x', claim: 1 },
    steps: [],
    endsWait: false,
    start: { kind: 'manual', event: '{}', context: '{}', causedBy: undefined, traceId: id, startedAtMs: 1 },
    wait: {
      kind: 'rerun',
      position: 0,
      runs: 1,
      failures: 0,
      token: TOKEN,
      wakeAtMs: Date.now() + 60_000,
      bytes: 5_000,
      ...wait,
    },
  };
}

test('the data of a resume count with the waiting execution', async () => {
  const { sql } = database.db;
  const id = await invocation('node_x');
  await parkExecutions(sql, [parkOf(id)], createJobCrowds());
  expect(await bytesOf(id)).toBe(5_000);
  const brought = { id, token: TOKEN, position: 0, runs: 1, isOurs: true, data: DATA };
  expect(await resumeExecution(sql, brought)).toBe(accountId);
  expect(await bytesOf(id)).toBe(5_000 + DATA_BYTES);
  // A second one brings nothing.
  expect(await resumeExecution(sql, brought)).toBeUndefined();
  expect(await bytesOf(id)).toBe(5_000 + DATA_BYTES);
});

test.each([
  { kind: 'suspend' as const, position: 0, kept: DATA_BYTES },
  { kind: 'retry' as const, position: 0, kept: DATA_BYTES },
  { kind: 'retry' as const, position: 1, kept: 0 },
])('data that arrived before a wait ($kind of step $position) count as long as they are kept', async (wait) => {
  const { kept, ...parked } = wait;
  const { sql } = database.db;
  const id = await invocation('node_x');
  const brought = { id, token: TOKEN, position: 0, runs: 1, isOurs: true, data: DATA };
  expect(await resumeExecution(sql, brought)).toBe(accountId);
  expect(await bytesOf(id)).toBe(LIMITS.waitingOverheadBytes + DATA_BYTES);
  await parkExecutions(sql, [parkOf(id, parked)], createJobCrowds());
  expect(await bytesOf(id)).toBe(5_000 + kept);
  const [row] = await sql<{ leased_by: string }[]>`select leased_by from invocations where id = ${id}`;
  expect(row?.leased_by).toBe(PARKED);
});

test('a resume at the moment of the timeout is not reported as done', async () => {
  const { sql } = database.db;
  const id = await invocation('node_x');
  await parkExecutions(sql, [{ ...parkOf(id, { kind: 'suspend' }), steps: [DONE_STEP] }], createJobCrowds());
  const brought = { id, token: TOKEN, position: 0, runs: 1, isOurs: true, data: DATA };
  let resuming: Promise<string | undefined> | undefined;
  await sql.begin(async (tx) => {
    // As what wakes it does: it takes the execution, reads what has come for it, and ends the wait.
    await tx`select from invocations where id = ${id} for update`;
    resuming = resumeExecution(sql, brought);
    await Promise.race([resuming, eventually(async () => (await blockedBy(tx)).length > 0)]);
    await tx`update invocations set leased_by = null where id = ${id}`;
    await tx`delete from execution_waits where execution_id = ${id}`;
  });
  expect(await resuming).toBeUndefined();
});

test('the context of the next run counts for the history', () => {
  const without = executionBytes(parkOf('exec_1'));
  expect(executionBytes(parkOf('exec_1', { context: 'v'.repeat(GIVEN) })) - without).toBe(GIVEN);
});

/** Parks them all at once, and answers how many of them each transaction has held. */
async function batchesOf(commits: readonly ExecutionCommit[]): Promise<number[]> {
  const batches: number[] = [];
  const sql = new Proxy(database.db.sql, {
    get(target, key) {
      if (key === 'begin') batches.push(0);
      return Reflect.get(target, key) as unknown;
    },
  });
  const committer = createExecutionCommitter({ sql, history: { add: () => undefined }, log: testLog });
  await Promise.all(commits.map((commit) => committer.park(commit)));
  await committer.drain();
  return batches;
}

const LARGE = 'x'.repeat(700_000);

test.each([
  { what: 'the next run is given', commit: (id: string) => parkOf(id, { context: LARGE }) },
  {
    what: 'a step sends',
    commit: (id: string) => ({
      ...parkOf(id),
      steps: [{ ...DONE_STEP, sends: [{ kind: 'http' as const, payload: LARGE }] }],
    }),
  },
  {
    what: 'a sealed send of a step',
    commit: (id: string) => ({
      ...parkOf(id),
      steps: [{ ...DONE_STEP, sends: [{ kind: 'http' as const, payload: '', sealed: LARGE }] }],
    }),
  },
  {
    what: 'the error of a step',
    commit: (id: string) => ({ ...parkOf(id), steps: [{ ...DONE_STEP, error: LARGE }] }),
  },
])('$what has its weight: no transaction holds megabytes of it', async ({ commit }) => {
  const small = await batchesOf(Array.from({ length: 8 }, (_, n) => parkOf(`exec_${n}`)));
  expect(small).toHaveLength(1);
  const large = await batchesOf(Array.from({ length: 8 }, (_, n) => commit(`exec_${n}`)));
  // Two megabytes are the most of one.
  expect(large.length).toBeGreaterThanOrEqual(3);
});
