import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createExecutionCommitter } from '../../../engine/src/workflows/run/execution-committer.ts';
import type { ExecutionCommit, StepRow } from '../../../engine/src/runs/commit/execution-rows.ts';
import { action, DONE_STEP, untilExecutions } from '../../support/executions.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { insertWorkflow } from '../../support/workflow-rows.ts';

const errors: { msg: string; err?: { message: string } }[] = [];
const log = pino({ level: 'error' }, { write: (line) => void errors.push(JSON.parse(line)) });
let hw: Headwater;
beforeAll(async () => {
  hw = await startHeadwater({ log });
});
afterAll(() => hw.stop());
beforeEach(() => void errors.splice(0));

/** An invalid payload: the preparation of the commit throws, and no statement is sent. */
const BROKEN = '[{"kind":"emit","payload":[]}]';
const INTERNAL = { code: 'INTERNAL', message: 'The outputs of the execution could not be stored' };

interface Begun {
  id: string;
  steps: readonly string[];
  /** Sends of the first step, which is done. */
  sends: string;
}

/** Continues an execution whose first step ran on another node. */
async function goOn({ id, steps, sends }: Begun): Promise<string> {
  const { accountId, sql } = hw;
  const flow = await insertWorkflow(sql, {
    accountId,
    steps: steps.map((namespace) => ({ namespace, code: action('return 2;') })),
  });
  await sql`
    insert into execution_steps (execution_id, position, account_id, deployment_id, namespace, status, runs, value, exports, logs,
      sends, started_at, ended_at)
    values (${id}, 0, ${accountId}, ${flow.deploymentId}, 'first', 'done', 1, '1', '{}', '[]', ${sends}, now(), now())`;
  await sql`
    insert into invocations (id, account_id, source_id, kind, event, attempts, place)
    values (${id}, ${accountId}, ${flow.id}, 'manual', '{}', 1, nextval('invocation_places'))`;
  await sql`select graphile_worker.add_job('run-source', json_build_object('sourceId', ${flow.id}::text))`;
  return flow.id;
}

async function channelsOf(id: string): Promise<string[]> {
  const rows = await hw.sql<{ channel: string }[]>`
    select channel from events where emitter_id = ${id} order by indexed_at_ms, seq`;
  return rows.map(({ channel }) => channel);
}

test('an execution whose outputs cannot be stored ends without them', async () => {
  const flow = await goOn({ id: 'exec_bare', steps: ['first', 'second'], sends: BROKEN });
  const [execution] = await untilExecutions(hw.sql, flow, 1);
  expect(execution).toMatchObject({
    status: 'failed',
    error: { ...INTERNAL, namespace: 'second' },
    steps: [{ value: 1 }, { status: 'failed', value: undefined }],
  });
  expect(await channelsOf(flow)).toEqual(['$errors']);
  expect(await hw.sql`select from invocations where source_id = ${flow}`).toHaveLength(0);
  expect(errors.map(({ msg }) => msg)).toEqual(['the outputs of an execution could not be stored']);
  expect(errors[0]?.err?.message).toContain('startsWith');
});

test('one whose steps are all stored has failed as well: its sends are lost, and it says so', async () => {
  const flow = await goOn({ id: 'exec_bare_whole', steps: ['first'], sends: BROKEN });
  const [execution] = await untilExecutions(hw.sql, flow, 1);
  expect(execution).toMatchObject({ status: 'failed', error: INTERNAL, steps: [{ status: 'done', value: 1 }] });
  expect(await channelsOf(flow)).toEqual(['$errors']);
  expect(errors).toHaveLength(1);
});

test('an execution that cannot be written fails alone, at once, and the others of its batch are written', async () => {
  const start = { kind: 'manual', event: '{}', context: '{}', causedBy: undefined, traceId: 't', startedAtMs: 1 };
  const commitOf = (id: string, sends: object[]): ExecutionCommit => ({
    key: { id, accountId: hw.accountId, workflowId: 'p_none', deploymentId: 'd_none' },
    lease: { leasedBy: 'node_x', claim: 1 },
    endsWait: false,
    start,
    steps: [{ ...DONE_STEP, sends: sends as StepRow['sends'] }],
  });
  const { accountId, sql } = hw;
  await sql`
    insert into invocations (id, account_id, source_id, kind, event, attempts, place, leased_by)
    values ('exec_beside', ${accountId}, 'p_none', 'manual', '{}', 1, nextval('invocation_places'), 'node_x')`;
  const warnings: string[] = [];
  const { commit } = createExecutionCommitter({
    sql,
    history: { add: () => undefined },
    log: pino({ level: 'warn' }, { write: (line) => void warnings.push(line) }),
  });
  const outcomes = await Promise.allSettled([
    commit(commitOf('exec_bad', [{ kind: 'emit', payload: '', wrong: 1n }])),
    commit(commitOf('exec_beside', [])),
  ]);
  expect(outcomes).toMatchObject([
    { status: 'rejected', reason: expect.any(TypeError) },
    { status: 'fulfilled', value: true },
  ]);
  expect(warnings).toEqual([]);
  await sql`delete from invocations where id = 'exec_beside'`;
});
