import { newId } from '@headwater/shared';
import { addJobs } from '../../../engine/src/db/jobs/add-jobs.ts';
import type { Sql } from '../../../engine/src/db/database.ts';
import { wakeJob } from '../../../engine/src/workflows/run/park-executions.sql.ts';

export interface Filled {
  accountId: string;
  waitsId: string;
  queuedId: string;
  /** In the order in which they were accepted. */
  waiting: string[];
  queued: string[];
}

const BATCH = 5_000;
const DAY_MS = 24 * 3600 * 1000;
/** Half of them began longer ago than history is kept. */
const OLDEST_DAYS = 60;
const LONGEST_WAIT_DAYS = 30;

/** Rows as executions leave them that have run a step and wait, and that are queued. */
export async function fillExecutions(
  sql: Sql,
  { waitsId, queuedId, executions }: Pick<Filled, 'waitsId' | 'queuedId'> & { executions: number },
): Promise<Filled> {
  const [workflow] = await sql<{ account_id: string; deployment_id: string }[]>`
    select account_id, deployment_id from emitters where id = ${waitsId}`;
  const { account_id: accountId = '', deployment_id: deploymentId = '' } = workflow ?? {};
  const ids = () =>
    Array.from({ length: executions }, (_, i) =>
      newId('execution', Math.floor(Date.now() - OLDEST_DAYS * DAY_MS * (1 - i / executions))),
    );
  const [waiting, queued] = [ids(), ids()];
  for (let i = 0; i < executions; i += BATCH) {
    await insertWaiting(sql, { accountId, deploymentId, workflowId: waitsId }, waiting.slice(i, i + BATCH));
    await sql`
      insert into invocations (id, account_id, source_id, kind, event, place)
      select id, ${accountId}, ${queuedId}, 'manual', '{}', nextval('invocation_places')
      from unnest(${queued.slice(i, i + BATCH)}::text[]) with ordinality as q(id, n) order by n`;
  }
  await sql`analyze`;
  return { accountId, waitsId, queuedId, waiting, queued };
}

interface Owner {
  accountId: string;
  deploymentId: string;
  workflowId: string;
}

/** A quarter of them each: suspended, delayed, to be run again, to be tried again. */
async function insertWaiting(sql: Sql, { accountId, deploymentId, workflowId }: Owner, ids: string[]): Promise<void> {
  const wakeAtMs = ids.map((_, i) => Date.now() + DAY_MS + ((LONGEST_WAIT_DAYS * DAY_MS) / BATCH) * i);
  await sql`
    insert into invocations (id, account_id, source_id, kind, event, attempts, leased_by, place)
    select id, ${accountId}, ${workflowId}, 'manual', '{}', 1, 'parked', nextval('invocation_places')
    from unnest(${ids}::text[]) as w(id)`;
  await sql`
    insert into executions (id, account_id, workflow_id, deployment_id, kind, status, event, context, trace_id, started_at)
    select id, ${accountId}, ${workflowId}, ${deploymentId}, 'manual', 'waiting', '{}', '{"emitter_id":null}', id, now()
    from unnest(${ids}::text[]) as w(id)`;
  await sql`
    insert into execution_steps (execution_id, position, account_id, deployment_id, namespace, status, runs, exports, logs,
      started_at, ended_at)
    select id, 0, ${accountId}, ${deploymentId}, 'step',
      (array['waiting', 'waiting', 'rerun', 'failed'])[n % 4 + 1], 1, '{}', '[]', now(), now()
    from unnest(${ids}::text[]) with ordinality as w(id, n)`;
  await sql`
    insert into execution_waits (execution_id, account_id, workflow_id, kind, position, runs, token, wake_at)
    select id, ${accountId}, ${workflowId}, (array['suspend', 'delay', 'rerun', 'retry'])[n % 4 + 1], 0, 1, 'token of ' || id,
      to_timestamp(wake_at / 1000.0)
    from unnest(${ids}::text[], ${wakeAtMs}::float8[]) with ordinality as w(id, wake_at, n)`;
  await addJobs(
    sql,
    ids.map((id, i) => wakeJob(id, wakeAtMs[i] ?? 0)),
  );
}
