import type { Tenant } from './hostile-tenant.ts';
import { action } from './executions.ts';

export interface WorkflowAttack {
  /** Each the body of `run` of an action; their namespaces are `step0`, `step1`, … */
  steps: readonly string[];
  settings?: Record<string, unknown>;
}

/** A workflow with an HTTP trigger, as its tenant makes it. */
export async function makeWorkflow(
  tenant: Tenant,
  { steps, settings = {} }: WorkflowAttack,
): Promise<{ id: string; deploymentId: string; endpoint: string }> {
  const answer = await tenant.api('POST', '/workflows', {
    name: 'Attack',
    triggers: [{ type: 'http' }],
    steps: steps.map((body, i) => ({ namespace: `step${i}`, component_code: action(body) })),
    settings,
  });
  if (answer.status !== 200) throw new Error(`The workflow was not made: ${answer.status} ${answer.text}`);
  const { id, deployment_id: deploymentId, triggers } = answer.body.data;
  return { id, deploymentId, endpoint: triggers[0].endpoint_url };
}
