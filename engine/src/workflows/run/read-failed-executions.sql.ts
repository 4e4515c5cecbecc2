import type { FailedExecutionChoice } from '../../contract/workflows.ts';
import type { Sql } from '../../db/database.ts';

/** Failed executions of a workflow behind an id, which nothing has replayed yet, oldest first. */
export async function readFailedExecutions(
  sql: Sql,
  place: { accountId: string; workflowId: string; after: string; limit: number },
  { since, until, code }: FailedExecutionChoice,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select e.id from executions e
    where e.workflow_id = ${place.workflowId} and e.status = 'failed' and e.account_id = ${place.accountId}
      and e.id > ${place.after}
      ${since === undefined ? sql`` : sql`and e.ended_at >= ${since.toISOString()}::timestamptz`}
      ${until === undefined ? sql`` : sql`and e.ended_at < ${until.toISOString()}::timestamptz`}
      ${code === undefined ? sql`` : sql`and starts_with(e.error, ${`{"code":${JSON.stringify(code)}`})`}
      and not exists (select from executions r where r.replay_of = e.id)
    order by e.id limit ${place.limit}`;
  return rows.map(({ id }) => id);
}
