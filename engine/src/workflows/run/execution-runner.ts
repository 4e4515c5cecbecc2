import { LIMITS } from '@headwater/shared';
import { type HeldInvocation, leaseOf } from '../../run/invocation.ts';
import type { WorkflowState } from '../../store/read-workflow-runtime.ts';
import { createExecution, type Execution } from './execution.ts';
import { runExecution } from './run-execution.ts';
import type { ExecutionRunnerOptions } from './runner-options.ts';

/**
 * Takes the invocation of a workflow to where it ends or waits. An execution that has begun before goes on after its last
 * completed step, with its own version of the workflow; others begin with the current one.
 */
export function createExecutionRunner(
  options: ExecutionRunnerOptions,
): (invocation: HeldInvocation, ran: () => void, again: () => Promise<boolean>) => Promise<void> {
  return async (invocation, ran, again) => {
    const workflow = await options.runtimes.state.get(invocation.sourceId);
    if (workflow === undefined || workflow.deleted) return drop(options, invocation);
    if (!workflow.active) {
      // A tick of a workflow that is stopped is over; what was accepted otherwise, or has begun, waits for its start.
      if (invocation.kind === 'timer' && invocation.attempts === 1) return drop(options, invocation);
      await options.release([invocation], { tried: false });
      return;
    }
    const execution = await begin(options, workflow, invocation);
    // One attempt more than runs of sources have: an execution that has waited begins with its second.
    const isAbandoned = invocation.attempts > LIMITS.maxInvocationAttempts + 1;
    await runExecution(options, execution, { ran, again, isAbandoned });
  };
}

async function begin(
  options: ExecutionRunnerOptions,
  workflow: WorkflowState,
  invocation: HeldInvocation,
): Promise<Execution> {
  // Only then can there be any; see HeldInvocation.attempts.
  const progress = invocation.attempts > 1 ? await options.readProgress(invocation.id) : { steps: [] };
  const deployment = await options.runtimes.deployments.get(progress.deploymentId ?? workflow.deploymentId);
  if (deployment === undefined) throw new Error(`The version of execution ${invocation.id} is not there`);
  const account = await options.limits.get(workflow.accountId);
  return createExecution({ workflow, deployment, invocation, progress, account, nowMs: options.nowMs() });
}

/** Nobody is left to run it for. */
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
