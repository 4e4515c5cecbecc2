import type { AccountLimits } from '@headwater/shared';
import type { HeldInvocation } from '../../events/index.ts';
import type { ExecutionProgress, ProgressStep } from './read-execution-progress.sql.ts';
import type { WorkflowState } from './read-workflow-runtime.sql.ts';
import type { DeploymentRuntime } from './deployment-runtime.ts';
import { traceIdOfExecution, triggerContext, visibleStep } from './execution-context.ts';
import { isPassed } from './passed-steps.ts';
import type { ExecutionKey, ExecutionStart, StoredSend } from '../../runs/index.ts';
import { bytesOfSends, type StepRun } from './run-steps.ts';

/** An execution that this node holds, as it is when its first step here begins. */
export interface Execution {
  key: ExecutionKey;
  invocation: HeldInvocation;
  deployment: DeploymentRuntime;
  account: AccountLimits;
  start: ExecutionStart;
  /** Completed steps as later steps see them. */
  done: { namespace: string; exports: string }[];
  /** The step to begin with; behind the last one: nothing is left to run. */
  from: number;
  /** The run of the step `from`, if it runs again after a wait. */
  again: StepRun | undefined;
  /** Output of earlier runs of steps, completed or not. */
  sends: StoredSend[];
  logs: string[];
  usedBytes: number;
  /** Bytes that count for maxWaitingBytes from its last wait, until the next write. */
  waitedBytes: number;
}

export interface ExecutionParts {
  workflow: WorkflowState;
  deployment: DeploymentRuntime;
  invocation: HeldInvocation;
  progress: ExecutionProgress;
  account: AccountLimits;
  nowMs: number;
}

export function createExecution(parts: ExecutionParts): Execution {
  const { workflow, deployment, invocation, progress, account } = parts;
  const { id, accountId } = invocation;
  const completed = progress.steps.filter(isCompleted);
  const { again } = progress;
  const from = completed.length;
  const sends = completed.flatMap(sendsOf);
  return {
    key: { id, accountId, workflowId: workflow.workflowId, deploymentId: deployment.id },
    invocation,
    deployment,
    account,
    start: startOf(parts),
    done: completed.map(visibleStep),
    from,
    again: again?.position === from ? { ...again, runs: again.runs + 1 } : undefined,
    sends,
    logs: completed.map(({ logs }) => logs),
    waitedBytes: progress.waitedBytes ?? 0,
    usedBytes: completed.reduce((bytes, step) => bytes + bytesOfStep(step), bytesOfSends(sends)),
  };
}

/** A step of which another run follows will put out its own. */
const isCompleted = ({ status }: ProgressStep) => isPassed(status);

function startOf({ workflow, deployment, invocation, progress, nowMs }: ExecutionParts): ExecutionStart {
  const { kind, event, cause } = invocation;
  const replay = progress.replayOf !== undefined;
  const options = { deploymentId: deployment.id, triggers: deployment.triggers, replay, nowMs };
  return {
    kind,
    event,
    // The name of a workflow may change, the context of an execution that has waited does not.
    context: progress.context ?? triggerContext(workflow, invocation, options),
    causedBy: cause?.event,
    traceId: traceIdOfExecution(invocation),
    startedAtMs: progress.startedAtMs ?? nowMs,
    ...(progress.context === undefined ? {} : { isStored: true }),
  };
}

function sendsOf({ sends }: ProgressStep): StoredSend[] {
  return sends === null ? [] : (JSON.parse(sends) as StoredSend[]);
}

/** Without the sends of the step. */
export function bytesOfStep(step: { exports: string; value: string | null | undefined; logs: string }): number {
  return step.exports.length + (step.value?.length ?? 0) + step.logs.length;
}
