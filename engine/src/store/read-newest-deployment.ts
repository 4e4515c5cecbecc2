import type { Sql } from './database.ts';

/** The id of the newest version of a workflow, deployed or not. */
export async function readNewestDeployment(sql: Sql, workflowId: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select id from deployments where workflow_id = ${workflowId} order by version desc limit 1`;
  return row?.id;
}
