import { LIMITS } from '@headwater/shared';
import { createRetention } from '../../../engine/src/cluster/retention/retention.ts';
import { cancelExecution } from '../../../engine/src/workflows/run/cancel-execution.sql.ts';
import { claimExecutions } from '../../../engine/src/workflows/controls/claim-executions.sql.ts';
import { claimInvocations } from '../../../engine/src/runs/invocations.sql.ts';
import type { Sql } from '../../../engine/src/db/database.ts';
import { deleteWorkflow } from '../../../engine/src/workflows/delete-workflow.sql.ts';
import {
  countExecutions,
  countWaitingExecutions,
  listExecutionIds,
} from '../../../engine/src/observe/read-executions.sql.ts';
import { readStalledLanes } from '../../../engine/src/cluster/requeue.sql.ts';
import { registerNode, releaseDeadNodes } from '../../../engine/src/cluster/nodes.sql.ts';
import { resumeExecution } from '../../../engine/src/workflows/run/resume-execution.sql.ts';
import { requeueOverdueWaits, wakeExecutions } from '../../../engine/src/workflows/run/wake-executions.sql.ts';
import type { Filled } from './fill-executions.ts';

export interface QueryCost {
  name: string;
  /** Median. */
  ms: number;
  /** Rows that were read without an index, in all repetitions. */
  scanned: number;
}

const NODE_ID = 'node_bench';
const REPETITIONS = 5;
const WOKEN = 64;
const STATUSES = [undefined, 'waiting', 'queued', 'running', 'failed'] as const;

/** Each as the engine makes it. What changes rows takes others each time. */
export async function measureQueries(sql: Sql, filled: Filled): Promise<QueryCost[]> {
  const { accountId, waitsId, queuedId, waiting } = filled;
  await registerNode(sql, { id: NODE_ID, role: 'all' });
  await sql`
    update deployments set settings = settings - 'throttle' where id = (select deployment_id from emitters where id = ${queuedId})`;
  const costs: QueryCost[] = [];
  const measure = async (name: string, work: (i: number) => Promise<unknown>, times = REPETITIONS) =>
    void costs.push(await measureOne(sql, name, work, times));
  await measure('claim the next, one after the other', () => claimNext(sql, queuedId));
  await measure('claim of a workflow whose executions wait', () => claimInvocations(sql, waitsId, NODE_ID, WOKEN));
  await measure(`wake ${WOKEN}`, (i) => wake(sql, waiting.slice(i * WOKEN, (i + 1) * WOKEN)));
  await measure('resume one', (i) => resume(sql, waiting.at(-4 * (i + 1)) as string));
  await measure('cancel one', (i) => cancelExecution(sql, { id: waiting.at(-4 * (i + 1) - 1) as string }, undefined));
  for (const status of STATUSES) {
    const of = status ?? 'all';
    await measure(`list 20: ${of}`, () => listExecutionIds(sql, accountId, waitsId, pageOf(status)));
    await measure(`count: ${of}`, () =>
      countExecutions(
        sql,
        accountId,
        waitsId,
        status === undefined ? {} : { statuses: [status] },
        LIMITS.maxCountedEvents,
      ),
    );
  }
  const fromMiddle = { ...pageOf('waiting'), after: waiting[waiting.length / 2] as string };
  await measure('list 20: waiting, from the middle', () => listExecutionIds(sql, accountId, waitsId, fromMiddle));
  await measure('list 20: queued, of those that are', () =>
    listExecutionIds(sql, accountId, queuedId, pageOf('queued')),
  );
  await measure('/metrics: how many wait', () => countWaitingExecutions(sql));
  await measure('maintenance: lanes without a job', () => readStalledLanes(sql, 30_000));
  await measure('maintenance: waits without a job', () => requeueOverdueWaits(sql, 30_000));
  await measure('maintenance: dead nodes', () => releaseDeadNodes(sql, { deadAfterMs: 60_000, exceptId: NODE_ID }));
  const nowMs = Date.now;
  await measure('retention: one turn', createRetention({ sql, defaultDays: 30, defaultVersions: 20, nowMs }));
  await sql`update deployments set settings = settings || '{"throttle":{"limit":0,"intervalSeconds":60}}'
    where id = (select deployment_id from emitters where id = ${queuedId})`;
  const copy = await copyWaiting(sql, filled);
  await measure('delete a workflow with a tenth of those that wait', () => deleteWorkflow(sql, accountId, copy), 1);
  await sql`delete from nodes where id = ${NODE_ID}`;
  return costs;
}

async function measureOne(
  sql: Sql,
  name: string,
  work: (i: number) => Promise<unknown>,
  times: number,
): Promise<QueryCost> {
  const before = await scannedRows(sql);
  const all: number[] = [];
  for (let i = 0; i < times; i++) {
    const startMs = performance.now();
    await work(i);
    all.push(performance.now() - startMs);
  }
  const ms = all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;
  return { name, ms, scanned: (await scannedRows(sql)) - before };
}

/** Rows read by sequential scans of the tables that grow with executions. */
async function scannedRows(sql: Sql): Promise<number> {
  await sql`select pg_stat_force_next_flush()`;
  const [row] = await sql<{ rows: number }[]>`
    select coalesce(sum(seq_tup_read), 0)::int8 as rows from pg_stat_user_tables
    where relname in ('invocations', 'executions', 'execution_steps', 'execution_waits', '_private_jobs')`;
  return row?.rows ?? 0;
}

const pageOf = (status: (typeof STATUSES)[number]) => ({
  limit: 20,
  ...(status === undefined ? {} : { statuses: [status] }),
});

async function claimNext(sql: Sql, workflowId: string): Promise<void> {
  const { held } = await claimExecutions(sql, { workflowId, nodeId: NODE_ID, limit: WOKEN });
  if (held.length !== 1) throw new Error(`${held.length} executions were claimed`);
  await sql`delete from invocations where leased_by = ${NODE_ID}`;
}

async function wake(sql: Sql, ids: string[]): Promise<void> {
  await sql`update execution_waits set wake_at = now() where execution_id = any(${ids}::text[])`;
  await wakeExecutions(sql, ids);
}

async function resume(sql: Sql, id: string): Promise<void> {
  const token = { id, token: `token of ${id}`, position: 0, runs: 1, isOurs: true };
  if (!(await resumeExecution(sql, { ...token, data: '{}' }))) throw new Error(`${id} was not resumed`);
}

/** Another workflow of the same account has a tenth of them from now on. */
async function copyWaiting(sql: Sql, { accountId, waitsId, waiting }: Filled): Promise<string> {
  const id = `${waitsId}_copy`;
  const ids = waiting.slice(-waiting.length / 10);
  await sql`
    insert into emitters (id, kind, account_id, user_id, name, name_slug, deployed_at)
    select ${id}, kind, account_id, user_id, 'copy', 'copy', now() from emitters where id = ${waitsId}`;
  await sql`update executions set workflow_id = ${id} where account_id = ${accountId} and id = any(${ids}::text[])`;
  await sql`update execution_waits set workflow_id = ${id} where execution_id = any(${ids}::text[])`;
  await sql`update invocations set source_id = ${id} where id = any(${ids}::text[])`;
  return id;
}
