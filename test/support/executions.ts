import type { StepRow } from '../../engine/src/runs/commit/execution-rows.ts';
import type { Headwater } from './headwater.ts';
import { eventually } from './eventually.ts';
import type { Json } from './json.ts';

export interface StoredExecution {
  id: string;
  status: string;
  error: { code: string; message: string; namespace?: string; stack?: string } | null;
  reason: string | null;
  deploymentId: string;
  context: Record<string, unknown>;
  steps: StoredStep[];
}

export interface StoredStep {
  namespace: string;
  status: string;
  runs: number;
  value: unknown;
  exports: Json;
  logs: { message: string }[];
}

/** The first step of an execution, as it is stored when it is done. */
export const DONE_STEP: StepRow = {
  position: 0,
  namespace: 'one',
  status: 'done',
  runs: 1,
  value: undefined,
  exports: '{}',
  logs: '[]',
  liveLines: 0,
  sends: [],
  props: undefined,
  error: undefined,
  startedAtMs: 1,
  endedAtMs: 1,
};

/** Executions of one workflow, oldest first, read directly from the tables. */
export async function readExecutions(sql: Headwater['sql'], workflowId: string): Promise<StoredExecution[]> {
  const rows = await sql<
    {
      id: string;
      status: string;
      error: string | null;
      reason: string | null;
      deployment_id: string;
      context: string;
    }[]
  >`
    select id, status, error, reason, deployment_id, context from executions where workflow_id = ${workflowId} order by id`;
  return Promise.all(
    rows.map(async ({ id, status, error, reason, deployment_id: deploymentId, context }) => ({
      id,
      status,
      error: error === null ? null : JSON.parse(error),
      reason,
      deploymentId,
      context: JSON.parse(context),
      steps: await readSteps(sql, id),
    })),
  );
}

export async function readSteps(sql: Headwater['sql'], executionId: string): Promise<StoredStep[]> {
  const rows = await sql<
    { namespace: string; status: string; runs: number; value: string | null; exports: string; logs: string }[]
  >`
    select namespace, status, runs, value, exports, logs from execution_steps
    where execution_id = ${executionId} order by position`;
  return rows.map((row) => ({
    ...row,
    value: row.value === null ? undefined : JSON.parse(row.value),
    exports: JSON.parse(row.exports),
    logs: JSON.parse(row.logs),
  }));
}

/** Resolves when `count` executions of the workflow have one of the statuses. */
export async function untilExecutions(
  sql: Headwater['sql'],
  workflowId: string,
  count: number,
  statuses: readonly string[] = ['succeeded', 'failed', 'exited', 'cancelled'],
): Promise<StoredExecution[]> {
  return eventually(
    async () => {
      const found = (await readExecutions(sql, workflowId)).filter(({ status }) => statuses.includes(status));
      return found.length >= count && found;
    },
    { what: `${count} executions of ${workflowId} that are ${statuses.join(' or ')}`, timeoutMs: 25_000 },
  );
}

/** An action with this body of `run`. */
export function action(body: string, props = ''): string {
  return `export default { name: "Step", version: "0.0.1", type: "action", props: { ${props} },
    async run({ steps, $ }) { ${body} } };`;
}

/** Makes the execution's wait due now. */
export async function letTimePass(sql: Headwater['sql'], id: string): Promise<void> {
  await sql`update execution_waits set wake_at = now() where execution_id = ${id}`;
  await sql`
    select graphile_worker.add_job('wake-execution', json_build_object('executionId', ${id}::text), job_key => ${`wake:${id}`})`;
}
