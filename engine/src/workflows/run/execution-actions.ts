import { HeadwaterError, newId, notFound } from '@headwater/shared';
import type { Executions } from '../../contract/index.ts';
import { cancelExecution, type CancelledInvocation, readCancellable } from './cancel-execution.sql.ts';
import type { Sql } from '../../db/index.ts';
import type { AccountBacklogs } from '../../runs/index.ts';
import type { WorkflowState } from './read-workflow-runtime.sql.ts';
import { readCurrentDeployment } from '../read-workflows.sql.ts';
import { type HistoryCount, historyRowBytes } from '../../accounts/index.ts';
import { type EndedExecution, insertExecutionReplay, readEndedExecution } from './replay-execution.sql.ts';
import { readOpenFor, readOpenWait, resumeExecution } from './resume-execution.sql.ts';
import { createAnonymousLookups } from '../../fairness/index.ts';
import type { DeploymentRuntime, WorkflowRuntimes } from './deployment-runtime.ts';
import { triggerContext } from './execution-context.ts';
import { isPassed } from './passed-steps.ts';
import { retryExecutions } from './retry-executions.ts';
import type { WaitTokens } from './wait-token.ts';

export type ExecutionActions = Pick<
  Executions,
  'replay' | 'retry' | 'resumeWaiting' | 'cancel' | 'waitingFor' | 'resume' | 'cancelByToken'
>;

export interface ExecutionActionsOptions {
  sql: Sql;
  tokens: Pick<WaitTokens, 'read'>;
  runtimes: WorkflowRuntimes;
  history: HistoryCount;
  backlogs: Pick<AccountBacklogs, 'queue'>;
}

/** Actions of clients on executions: resume, cancel, replay. */
export function createExecutionActions(options: ExecutionActionsOptions): ExecutionActions {
  const { sql, tokens, history } = options;
  const inTurn = createAnonymousLookups();
  const cancel = (execution: { id: string; accountId?: string }) => cancelCounted(options, execution);
  async function waitingFor(id: string, token: string): Promise<string | undefined> {
    const read = tokens.read(id, token);
    return read && inTurn(() => readOpenFor(sql, { id, token, ...read }));
  }
  async function resume(id: string, token: string, data: string): Promise<boolean> {
    const read = tokens.read(id, token);
    const accountId = read && (await resumeExecution(sql, { id, token, data, ...read }));
    // It becomes an export of the step that waits.
    if (accountId !== undefined) history.add(accountId, Buffer.byteLength(data));
    return accountId !== undefined;
  }

  return {
    async replay({ accountId }, id, request) {
      const executionId = await replay(options, accountId, id, request);
      // Only one that is to be the first may be refused.
      if (executionId === undefined) throw new Error(`Execution ${id} was not replayed`);
      return { executionId };
    },
    retry({ accountId }, workflowId, { from = 'failed', deployment = 'original', ...choice }) {
      const request = { from, deployment, onlyFirst: true };
      return retryExecutions(sql, { accountId, workflowId }, choice, (account, id) =>
        unlessInTheWay(async () => (await replay(options, account, id, request)) !== undefined),
      );
    },
    async cancel({ accountId }, id) {
      if (await cancel({ id, accountId })) return;
      const ended = await readEndedExecution(sql, accountId, id);
      if (ended === undefined) throw notFound('execution', id);
      throw new HeadwaterError('CONFLICT', `Execution ${id} has ended; there is nothing to cancel`);
    },
    waitingFor,
    resume,
    async resumeWaiting({ accountId }, id, data) {
      const token = await readOpenWait(sql, accountId, id);
      if (token !== undefined && (await resume(id, token, data))) return;
      if ((await readEndedExecution(sql, accountId, id)) === undefined) throw notFound('execution', id);
      throw new HeadwaterError('CONFLICT', `Execution ${id} does not wait for a time or a request; nothing resumes it`);
    },
    async cancelByToken(id, token) {
      return (await waitingFor(id, token)) !== undefined && inTurn(() => cancel({ id }));
    },
  };
}

async function cancelCounted(
  options: ExecutionActionsOptions,
  execution: { id: string; accountId?: string },
): Promise<boolean> {
  const { sql, history } = options;
  const found = await readCancellable(sql, execution);
  if (found === undefined) return false;
  const described = found.hasBegun ? undefined : await describeCancelled(options, found);
  const cancelled = await cancelExecution(sql, execution, described);
  if (cancelled?.isDescribed === true && described !== undefined)
    history.add(found.accountId, historyRowBytes(found.event, described.context));
  return cancelled !== undefined;
}

/** In a replay of many, skips an execution that was deleted meanwhile, or whose version was. */
async function unlessInTheWay(replayOne: () => Promise<boolean>): Promise<boolean> {
  try {
    return await replayOne();
  } catch (error) {
    if (error instanceof HeadwaterError && (error.code === 'CONFLICT' || error.code === 'NOT_FOUND')) return false;
    throw error;
  }
}

/** Undefined: something has replayed it already. */
async function replay(
  { sql, runtimes, history, backlogs }: ExecutionActionsOptions,
  accountId: string,
  id: string,
  {
    from = 'start',
    deployment: version = 'original',
    onlyFirst = false,
  }: Parameters<Executions['replay']>[2] & { onlyFirst?: boolean },
): Promise<string | undefined> {
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
  const context = replayContext(workflow, deployment, original, executionId);
  const completed = from === 'failed' ? completedSteps(original, deployment) : 0;
  const row = {
    id: executionId,
    of: id,
    accountId,
    workflowId,
    deploymentId,
    kind,
    event,
    context,
    completed,
    onlyFirst,
  };
  const stepBytes = await backlogs.queue(accountId, event.length, () => insertExecutionReplay(sql, row));
  if (stepBytes === undefined) throw versionIsGone(id, deploymentId);
  if (stepBytes === 'replayed') return undefined;
  history.add(accountId, historyRowBytes(event, context) + stepBytes);
  return executionId;
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

/**
 * As many as are the same in the version that goes on with them: another step in between needs to
 * be run, and all after it.
 */
function completedSteps({ steps }: EndedExecution, deployment: DeploymentRuntime): number {
  const same = steps.findIndex(({ namespace, status }, i) => {
    return !isPassed(status) || deployment.steps[i]?.namespace !== namespace;
  });
  return same === -1 ? steps.length : same;
}

/** The context of a replay keeps the emitter of the original event. */
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

/** Record of an execution that was cancelled before it began. */
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
