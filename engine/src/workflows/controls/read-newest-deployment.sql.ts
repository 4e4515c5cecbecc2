import type { Sql } from '../../db/database.ts';

/** The id of the version that a workflow runs now, also where this node has not heard of it yet. */
export async function readCurrentDeployment(sql: Sql, workflowId: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select deployment_id as id from emitters where id = ${workflowId} and deployment_id is not null`;
  return row?.id;
}

/** The id of the newest version of a workflow, deployed or not. */
export async function readNewestDeployment(sql: Sql, workflowId: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select id from deployments where workflow_id = ${workflowId} order by version desc limit 1`;
  return row?.id;
}
