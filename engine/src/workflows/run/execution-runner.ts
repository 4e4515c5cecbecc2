import type { DispatcherOptions } from '../../runs/index.ts';
import { type HeldInvocation, leaseOf } from '../../events/index.ts';
import type { ExecutionProgress } from './read-execution-progress.sql.ts';
import type { WorkflowState } from './read-workflow-runtime.sql.ts';
import { createClientAnswer, noAnswer } from './client-answer.ts';
import type { DeploymentRuntime } from './deployment-runtime.ts';
import { createExecution, type ExecutionParts } from './execution.ts';
import { createHold } from './execution-hold.ts';
import { createPartCommits } from './part-commits.ts';
import { openContext } from './execution-context.ts';
import { runExecution } from './run-execution.ts';
import type { ExecutionRunnerOptions } from './runner-options.ts';

/**
 * Runs the invocation of a workflow until it ends or waits. An execution that has begun before
 * continues after its last completed step, with its own version of the workflow. Others begin with
 * the current version.
 */
export function createExecutionRunner(options: ExecutionRunnerOptions): DispatcherOptions['run'] {
  return async (invocation, ran, again, lost) => {
    const hold = createHold(options.lease, invocation, lost);
    // It has waited for its turn here, and may have been run elsewhere since.
    const ours = hold.isOurs();
    if (ours !== true && !(await ours))
      return createClientAnswer(invocation).leavesTakenOver(() => options.isGone(invocation.id));
    const workflow = await options.runtimes.state.get(invocation.sourceId);
    if (workflow === undefined || workflow.deleted) return drop(options, invocation);
    if (!workflow.active) {
      // A tick of a stopped workflow is obsolete. Other accepted invocations, and executions that
      // have begun, wait until it is started.
      if (invocation.kind === 'timer' && invocation.claim === 1) return drop(options, invocation);
      await options.release([invocation]);
      return;
    }
    const parts = await readParts(options, workflow, invocation);
    if (parts.deployment === undefined) return endWithoutVersion(options, parts);
    const execution = createExecution({ ...parts, deployment: parts.deployment });
    await runExecution(options, execution, { ran, again, hold });
  };
}

type FoundParts = Omit<ExecutionParts, 'deployment'> & {
  deploymentId: string;
  deployment: DeploymentRuntime | undefined;
};

async function readParts(
  options: ExecutionRunnerOptions,
  workflow: WorkflowState,
  invocation: HeldInvocation,
): Promise<FoundParts> {
  // Only then can there be any; see HeldInvocation.claim.
  const progress = invocation.claim > 1 ? await readProgress(options, invocation) : { steps: [] };
  const deploymentId = progress.deploymentId ?? workflow.deploymentId;
  const deployment = await options.runtimes.deployments.get(deploymentId);
  const account = await options.limits.get(workflow.accountId);
  return { workflow, deploymentId, deployment, invocation, progress, account, nowMs: options.nowMs() };
}

async function readProgress(
  options: ExecutionRunnerOptions,
  { id, accountId }: HeldInvocation,
): Promise<ExecutionProgress> {
  const { again, ...progress } = await options.readProgress(id);
  if (again?.context === undefined) return again === undefined ? progress : { ...progress, again };
  return { ...progress, again: { ...again, context: openContext(options.sealer, accountId, again.context) } };
}

/**
 * Versions are kept while they are used. Should one be gone all the same: given back, its execution
 * would come to nothing for ever.
 */
async function endWithoutVersion(options: ExecutionRunnerOptions, parts: FoundParts): Promise<void> {
  const { deploymentId: id, workflow, invocation } = parts;
  const { workflowId, accountId } = workflow;
  const settings = { memoryMb: 0, retries: 0, autoDeploy: true };
  const deployment = { id, workflowId, accountId, version: 0, triggers: [], steps: [], settings };
  const execution = createExecution({ ...parts, deployment });
  const fault = { code: 'INTERNAL' as const, message: `Version ${id} of the workflow is not there any more` };
  options.log.error({ execution: invocation.id, deployment: id }, 'an execution has lost its version');
  const outcome = { status: 'failed' as const, error: JSON.stringify(fault), failure: { fault } };
  await createPartCommits(options, execution).finish(undefined, outcome);
  createClientAnswer(invocation).ended(noAnswer(invocation.id, true));
}

/** Ends an invocation whose workflow is deleted, or a tick of a stopped one. */
async function drop({ commitRun }: ExecutionRunnerOptions, invocation: HeldInvocation): Promise<void> {
  const { accountId, sourceId } = invocation;
  await commitRun({
    accountId,
    sourceId,
    invocation: leaseOf(invocation),
    final: true,
    dedupe: undefined,
    emits: [],
    dbWrites: new Map(),
  });
  invocation.respond?.({ ok: false, message: 'The workflow was stopped or deleted before it could run' });
}
