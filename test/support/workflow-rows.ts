import { bundleComponent } from '@headwater/sandbox-runtime';
import { newId, randomToken } from '@headwater/shared';
import type { Step, Trigger } from '../../engine/src/workflows/deployment.ts';
import type { WorkflowSettings } from '../../engine/src/contract/workflows.ts';
import type { Sql } from '../../engine/src/db/database.ts';
import type { Headwater } from './headwater.ts';

export interface StepSource {
  namespace: string;
  /** Code of a module with an action. */
  code: string;
  props?: Record<string, unknown>;
  env?: string[];
}

export interface WorkflowParts {
  accountId: string;
  userId?: string;
  steps: readonly StepSource[];
  settings?: Partial<WorkflowSettings>;
  /** Default: one HTTP trigger, and the workflow does not answer itself. */
  customResponse?: boolean;
}

export interface InsertedWorkflow {
  id: string;
  deploymentId: string;
  /** Key of the HTTP trigger's endpoint. */
  endpointKey: string;
}

const DEFAULT_SETTINGS: WorkflowSettings = { memoryMb: 128, retries: 0, autoDeploy: true };

/** A workflow with one HTTP trigger, written into the tables as a deployment of it would be. */
export async function insertWorkflow(sql: Sql, parts: WorkflowParts): Promise<InsertedWorkflow> {
  const { accountId, customResponse = false } = parts;
  const id = newId('workflow');
  const triggerId = newId('httpTrigger');
  const endpointKey = randomToken(22);
  await sql`
    insert into emitters (id, account_id, user_id, name, name_slug, kind, deployed_at)
    values (${id}, ${accountId}, (select id from users where account_id = ${accountId} limit 1), 'Flow', ${id}, 'workflow', now())`;
  await sql`insert into emitter_state (emitter_id, account_id) values (${id}, ${accountId})`;
  await sql`
    insert into endpoints (key, account_id, source_id, prop_name, custom_response)
    values (${endpointKey}, ${accountId}, ${id}, ${triggerId}, ${customResponse})`;
  const triggers: Trigger[] = [{ id: triggerId, type: 'http', customResponse }];
  const deploymentId = await insertDeployment(sql, id, { ...parts, triggers });
  return { id, deploymentId, endpointKey };
}

/** The same in the account of a running system, with the URL that it is triggered at. */
export async function insertTriggered(
  hw: Pick<Headwater, 'sql' | 'accountId' | 'url'>,
  parts: Omit<WorkflowParts, 'accountId'>,
): Promise<InsertedWorkflow & { endpoint: string }> {
  const made = await insertWorkflow(hw.sql, { ...parts, accountId: hw.accountId });
  return { ...made, endpoint: `${hw.url}/e/${made.endpointKey}` };
}

/** One more version, which is the current one from now on. */
export async function insertDeployment(
  sql: Sql,
  workflowId: string,
  { accountId, steps, settings, triggers }: WorkflowParts & { triggers: Trigger[] },
): Promise<string> {
  const rows = await Promise.all(steps.map((step) => insertStep(sql, accountId, step)));
  const id = newId('deployment');
  await sql`
    insert into deployments (id, account_id, workflow_id, user_id, version, triggers, steps, settings)
    select ${id}, ${accountId}, ${workflowId}, e.user_id,
      (select count(*) + 1 from deployments where workflow_id = ${workflowId}),
      ${JSON.stringify(triggers)}::text::jsonb, ${JSON.stringify(rows)}::text::jsonb,
      ${JSON.stringify({ ...DEFAULT_SETTINGS, ...settings })}::text::jsonb
    from emitters e where e.id = ${workflowId}`;
  await sql`update emitters set deployment_id = ${id} where id = ${workflowId}`;
  await sql`select pg_notify('headwater_source_changed', ${workflowId})`;
  return id;
}

async function insertStep(
  sql: Sql,
  accountId: string,
  { namespace, code, props = {}, env = [] }: StepSource,
): Promise<Step> {
  const componentId = newId('savedComponent');
  const built = await bundleComponent(code);
  if (!built.ok) throw new Error(JSON.stringify(built.errors));
  const { bundle } = built;
  const definitions = Object.keys(props).map((name) => ({ name, type: 'any' }));
  await sql`
    insert into components (id, account_id, name, version, type, code, code_hash, bundle, bundle_hash, source_map, hooks, configurable_props)
    values (${componentId}, ${accountId}, ${namespace}, '1', 'action', ${code}, ${bundle.hash}, ${bundle.code}, ${bundle.hash}, ${bundle.sourceMap}, '{}',
      ${JSON.stringify(definitions)}::text::jsonb)`;
  return { id: newId('step'), namespace, componentId, configuredProps: props, dynamicProps: [], env };
}
