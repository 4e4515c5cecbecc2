import type { PropDefinition } from '@headwater/shared';
import type { Sql, Transaction } from '../db/index.ts';
import type { Deployment } from './deployment.ts';

/** A workflow with one of its versions. */
export interface WorkflowRow extends Omit<Deployment, 'id'> {
  id: string;
  user_id: string;
  name: string;
  name_slug: string;
  active: boolean;
  revision: number;
  in_turn: boolean;
  /** The one that runs. */
  current_id: string;
  /** The version in this row. */
  deployment_id: string;
  latest_id: string;
  /** Trigger → endpoint key. */
  endpoints: Record<string, string> | null;
  created_ms: number;
  updated_ms: number;
}

const columns = (sql: Sql) => sql`
  w.id, w.account_id as "accountId", w.id as "workflowId", w.user_id, w.name, w.name_slug, w.active, w.revision, w.in_turn,
  w.deployment_id as current_id, d.id as deployment_id, d.version, d.triggers, d.settings,
  (select l.id from deployments l where l.workflow_id = w.id order by l.version desc limit 1) as latest_id,
  (select json_object_agg(e.prop_name, e.key) from endpoints e where e.source_id = w.id) as endpoints,
  extract(epoch from w.created_at)::float8 * 1000 as created_ms,
  extract(epoch from w.updated_at)::float8 * 1000 as updated_ms`;

/** With its current version, or the one that is named. */
export async function readWorkflow(
  sql: Sql,
  accountId: string,
  id: string,
  deploymentId?: string,
): Promise<WorkflowRow | undefined> {
  const version =
    deploymentId === undefined ? sql`d.id = w.deployment_id` : sql`d.id = ${deploymentId} and d.workflow_id = w.id`;
  const [row] = await sql<WorkflowRow[]>`
    select ${columns(sql)}, d.steps from emitters w join deployments d on ${version}
    where w.account_id = ${accountId} and w.id = ${id} and w.kind = 'workflow' and w.deleted_at is null`;
  return row;
}

/** Those of `ids` that are there, in the order of `ids`, without their steps. */
export async function readWorkflowsById(
  sql: Sql,
  accountId: string,
  ids: readonly string[],
): Promise<Omit<WorkflowRow, 'steps'>[]> {
  return sql<Omit<WorkflowRow, 'steps'>[]>`
    select ${columns(sql)} from emitters w join deployments d on d.id = w.deployment_id
    where w.account_id = ${accountId} and w.id = any(${[...ids]}::text[]) and w.kind = 'workflow' and w.deleted_at is null
    order by array_position(${[...ids]}::text[], w.id)`;
}

/** Shown definitions of the steps' components, deleted components included. */
export async function readStepDefinitions(
  sql: Sql,
  accountId: string,
  ids: readonly string[],
): Promise<Map<string, PropDefinition[]>> {
  const rows = await sql<{ id: string; configurable_props: PropDefinition[] }[]>`
    select id, configurable_props from components where account_id = ${accountId} and id = any(${[...ids]}::text[])`;
  return new Map(rows.map((row) => [row.id, row.configurable_props]));
}

export interface DeploymentSummaryRow {
  id: string;
  version: number;
  is_current: boolean;
  created_ms: number;
}

export async function readDeploymentsById(
  sql: Sql,
  accountId: string,
  ids: readonly string[],
): Promise<DeploymentSummaryRow[]> {
  return sql<DeploymentSummaryRow[]>`
    select d.id, d.version, d.id = w.deployment_id as is_current, extract(epoch from d.created_at)::float8 * 1000 as created_ms
    from deployments d join emitters w on w.id = d.workflow_id
    where d.account_id = ${accountId} and d.id = any(${[...ids]}::text[])
    order by array_position(${[...ids]}::text[], d.id)`;
}

/**
 * The sources that any version of the workflow has deployed, and that nothing else is subscribed to
 * by their id.
 */
export async function readOwnSources(sql: Sql | Transaction, accountId: string, workflowId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select s.id from sources s
    where s.account_id = ${accountId} and s.deleted_at is null and s.deployed_at is not null and s.id in (
      select t ->> 'sourceId' from deployments d, jsonb_array_elements(d.triggers) t
      where d.account_id = ${accountId} and d.workflow_id = ${workflowId} and t ->> 'deployed' = 'true'
    ) and not exists (
      select from subscriptions b
      where b.account_id = ${accountId} and b.emitter_id = s.id and b.listener_id <> ${workflowId}
    )
    order by s.id`;
  return rows.map(({ id }) => id);
}

/** Those of `ids` that emit: sources and workflows that are there. */
export async function findEmitters(sql: Sql, accountId: string, ids: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select id from emitters where account_id = ${accountId} and id = any(${[...ids]}::text[])
      and deleted_at is null and deployed_at is not null`;
  return new Set(rows.map(({ id }) => id));
}

/**
 * Whether the code of one of these components calls `$.respond`; see
 * migrations/0038_code_that_responds.sql.
 */
export async function callsRespond(sql: Sql, accountId: string, componentIds: readonly string[]): Promise<boolean> {
  const rows = await sql`
    select from components where account_id = ${accountId} and id = any(${[...componentIds]}::text[]) and calls_respond
    limit 1`;
  return rows.length > 0;
}

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
