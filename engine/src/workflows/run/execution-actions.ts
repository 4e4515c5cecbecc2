import { HeadwaterError, newId, notFound } from '@headwater/shared';
import type { Executions } from '../../contract-workflows.ts';
import { cancelExecution, type CancelledInvocation } from '../../store/cancel-execution.ts';
import type { Sql } from '../../store/database.ts';
import type { WorkflowState } from '../../store/read-workflow-runtime.ts';
import { readCurrentDeployment } from '../../store/read-newest-deployment.ts';
import { type EndedExecution, insertReplay, readEndedExecution } from '../../store/replay-execution.ts';
import { readOpenFor, resumeExecution } from '../../store/resume-execution.ts';
import type { DeploymentRuntime, WorkflowRuntimes } from './deployment-runtime.ts';
import { triggerContext } from './execution-context.ts';
import { isPassed } from './passed-steps.ts';
import type { WaitTokens } from './wait-token.ts';

export type ExecutionActions = Pick<Executions, 'replay' | 'cancel' | 'waitingFor' | 'resume' | 'cancelByToken'>;

export interface ExecutionActionsOptions {
  sql: Sql;
  tokens: Pick<WaitTokens, 'read'>;
  runtimes: WorkflowRuntimes;
}

/** What is done to executions from outside. */
export function createExecutionActions(options: ExecutionActionsOptions): ExecutionActions {
  const { sql, tokens } = options;
  const cancel = (execution: { id: string; accountId?: string }) =>
    cancelExecution(sql, execution, (invocation) => describeCancelled(options, invocation));
  return {
    replay: (who, id, request) => replay(options, who.accountId, id, request),
    async cancel({ accountId }, id) {
      if (await cancel({ id, accountId })) return;
      const ended = await readEndedExecution(sql, accountId, id);
      if (ended === undefined) throw notFound('execution', id);
      throw new HeadwaterError('CONFLICT', `Execution ${id} has ended; there is nothing to cancel`);
    },
    async waitingFor(id, token) {
      const read = tokens.read(id, token);
      return read && readOpenFor(sql, { id, token, ...read });
    },
    async resume(id, token, data) {
      const read = tokens.read(id, token);
      return read !== undefined && resumeExecution(sql, { id, token, data, ...read });
    },
    async cancelByToken(id, token) {
      const read = tokens.read(id, token);
      if (read === undefined || (await readOpenFor(sql, { id, token, ...read })) === undefined) return false;
      return cancel({ id });
    },
  };
}

async function replay(
  { sql, runtimes }: ExecutionActionsOptions,
  accountId: string,
  id: string,
  { from = 'start', deployment: version = 'original' }: Parameters<Executions['replay']>[2],
): Promise<{ executionId: string }> {
  const original = await readEndedExecution(sql, accountId, id);
  if (original === undefined) throw notFound('execution', id);
  if (original === 'running')
    throw new HeadwaterError('CONFLICT', `Execution ${id} has not ended; wait for that or cancel it`);
  if (from === 'failed' && original.status !== 'failed' && original.status !== 'cancelled')
    throw new HeadwaterError('CONFLICT', `Execution ${id} has not failed; replay it from the start`);
  const workflow = await activeWorkflow(runtimes, original.workflowId);
  const deploymentId =
    version === 'original'
      ? original.deploymentId
      : ((await readCurrentDeployment(sql, original.workflowId)) ?? workflow.deploymentId);
  const deployment = await runtimes.deployments.get(deploymentId);
  if (deployment === undefined) throw versionIsGone(id, deploymentId);
  const executionId = newId('execution');
  const { workflowId, kind, event } = original;
  const isThere = await insertReplay(sql, {
    id: executionId,
    of: id,
    accountId,
    workflowId,
    deploymentId,
    kind,
    event,
    context: replayContext(workflow, deployment, original, executionId),
    completed: from === 'failed' ? completedSteps(original, deployment) : 0,
  });
  if (!isThere) throw versionIsGone(id, deploymentId);
  return { executionId };
}

function versionIsGone(id: string, deploymentId: string): HeadwaterError {
  const message = `Version ${deploymentId}, with which execution ${id} ran, was deleted: it was old and nothing used it; replay with deployment=newest`;
  return new HeadwaterError('CONFLICT', message, { fields: [{ path: 'deployment', message }] });
}

async function activeWorkflow(runtimes: WorkflowRuntimes, id: string): Promise<WorkflowState> {
  const workflow = await runtimes.state.get(id);
  if (workflow === undefined || workflow.deleted) throw notFound('workflow', id);
  if (!workflow.active)
    throw new HeadwaterError('CONFLICT', `Workflow ${id} is not active; set active to true to replay its executions`);
  return workflow;
}

/** As many as are the same in the version that goes on with them: another step in between needs to be run, and all after it. */
function completedSteps({ steps }: EndedExecution, deployment: DeploymentRuntime): number {
  const same = steps.findIndex(({ namespace, status }, i) => {
    return !isPassed(status) || deployment.steps[i]?.namespace !== namespace;
  });
  return same === -1 ? steps.length : same;
}

/** The event still comes from where it came from. */
function replayContext(
  workflow: WorkflowState,
  { id: deploymentId, triggers }: DeploymentRuntime,
  { kind, context }: EndedExecution,
  id: string,
): string {
  const fresh = triggerContext(workflow, { id, kind }, { deploymentId, triggers, replay: true, nowMs: Date.now() });
  const { emitter_id: emitterId } = JSON.parse(context) as { emitter_id: unknown };
  return JSON.stringify({ ...(JSON.parse(fresh) as object), emitter_id: emitterId });
}

/** What is kept of an execution that had not begun. */
async function describeCancelled(
  { runtimes }: ExecutionActionsOptions,
  { workflowId, ...started }: CancelledInvocation,
): Promise<{ deploymentId: string; context: string }> {
  const workflow = await runtimes.state.get(workflowId);
  if (workflow === undefined) throw notFound('execution', started.id);
  const { deploymentId } = workflow;
  const triggers = (await runtimes.deployments.get(deploymentId))?.triggers ?? [];
  const options = { deploymentId, triggers, replay: false, nowMs: Date.now() };
  return { deploymentId, context: triggerContext(workflow, started, options) };
}
