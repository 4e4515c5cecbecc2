import type { PropDefinition } from '@headwater/shared';
import type { Deployment } from '../deployment.ts';
import { mergeDefinitions } from '../../props/index.ts';
import type { Sql } from '../../db/index.ts';

/** Current state of a workflow, whatever its executions were started with. */
export interface WorkflowState {
  workflowId: string;
  accountId: string;
  name: string;
  active: boolean;
  deleted: boolean;
  /** New executions are of this version. */
  deploymentId: string;
}

export async function readWorkflowState(sql: Sql, workflowId: string): Promise<WorkflowState | undefined> {
  const rows = await sql<WorkflowState[]>`
    select id as "workflowId", account_id as "accountId", name, active, deleted_at is not null as deleted,
      deployment_id as "deploymentId"
    from emitters where id = ${workflowId} and kind = 'workflow' and deployment_id is not null`;
  return rows[0];
}

/** The part of a step's component that a version needs, without its code. */
export interface StepComponent {
  bundleHash: string;
  configurableProps: PropDefinition[];
}

export interface DeploymentRow extends Deployment {
  /** In the order of the steps; undefined where the component is not there any more. */
  components: (StepComponent | undefined)[];
  /** Bytes of its steps as JSON text. */
  chars: number;
}

interface ComponentRow {
  id: string;
  bundle_hash: string;
  configurable_props: PropDefinition[];
}

export async function readDeploymentRuntime(sql: Sql, id: string): Promise<DeploymentRow | undefined> {
  const [deployment] = await sql<(Deployment & { chars: number })[]>`
    select id, workflow_id as "workflowId", account_id as "accountId", version, triggers, steps, settings,
      octet_length(steps::text) as chars
    from deployments where id = ${id}`;
  if (deployment === undefined) return undefined;
  const ids = deployment.steps.map(({ componentId }) => componentId);
  const components = await sql<ComponentRow[]>`
    select id, coalesce(bundle_hash, code_hash) as bundle_hash, configurable_props
    from components where id = any(${ids}::text[]) and account_id = ${deployment.accountId}`;
  const byId = new Map(components.map((row) => [row.id, row]));
  return {
    ...deployment,
    components: deployment.steps.map(({ componentId, dynamicProps }) => {
      const row = byId.get(componentId);
      if (row === undefined) return undefined;
      return {
        bundleHash: row.bundle_hash,
        configurableProps: mergeDefinitions(row.configurable_props, dynamicProps),
      };
    }),
  };
}
