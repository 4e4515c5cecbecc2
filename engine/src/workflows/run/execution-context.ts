import { idTimeMs } from '@headwater/shared';
import { USER_AGENT } from '../../egress/index.ts';
import type { HeldInvocation } from '../../events/index.ts';
import type { Sealer } from '../../secrets/index.ts';
import type { Trigger } from '../deployment.ts';
import type { WorkflowState } from './read-workflow-runtime.sql.ts';

export type Started = Pick<HeldInvocation, 'id' | 'kind' | 'propName' | 'cause'>;

export interface ContextOptions {
  deploymentId: string;
  triggers: readonly Trigger[];
  replay: boolean;
  nowMs: number;
}

const PLATFORM_VERSION = USER_AGENT.split('/')[1];

/**
 * JSON text of `steps.trigger.context`, which is the same for all steps, runs and parts of an
 * execution.
 */
export function triggerContext(
  workflow: Pick<WorkflowState, 'workflowId' | 'accountId' | 'name'>,
  started: Started,
  options: ContextOptions,
): string {
  return JSON.stringify({
    id: started.id,
    ts: new Date(idTimeMs(started.id) ?? options.nowMs).toISOString(),
    workflow_id: workflow.workflowId,
    workflow_name: workflow.name,
    deployment_id: options.deploymentId,
    emitter_id: emitterIdOf(started, options.triggers),
    owner_id: workflow.accountId,
    trace_id: traceIdOfExecution(started),
    replay: options.replay,
    platform_version: PLATFORM_VERSION,
  });
}

export function traceIdOfExecution({ id, cause }: Pick<HeldInvocation, 'id' | 'cause'>): string {
  return cause?.traceId ?? id;
}

/**
 * Emitter of the event: a source, or the trigger. Null if the execution was started by hand, or if
 * the emitter is unknown.
 */
function emitterIdOf({ kind, propName, cause }: Started, triggers: readonly Trigger[]): string | null {
  // The event's id, `<ms>-<counter>`, is behind it.
  if (cause !== undefined) return cause.event.replace(/-\d+-\d+$/, '');
  // Triggers are the props of a workflow: it is named as its endpoint or timer is.
  if (propName !== undefined) return propName;
  // For an execution that a node of an older version accepted.
  const [only, ...others] = triggers.filter(({ type }) => type === kind);
  return only === undefined || others.length > 0 ? null : only.id;
}

export interface StepMoment {
  deadlineMs: number;
  jit: boolean;
  /** Counts from 1. */
  runs: number;
  /** JSON text: what `$.flow.rerun` was given. */
  context?: string | undefined;
  /** JSON text: what the request brought that resumed it. */
  callback?: string | undefined;
}

/** JSON text of `$.context`. */
export function stepContext(trigger: string, moment: StepMoment): string {
  const { deadlineMs, jit, runs, context, callback } = moment;
  const given = context === undefined ? '' : `,"context":${context}`;
  const called = callback === undefined ? '' : `,"callback_request":{"body":${callback}}`;
  const run = `{"runs":${runs}${given}${called}}`;
  return `${trigger.slice(0, -1)},"deadline":${Math.floor(deadlineMs)},"JIT":${jit},"run":${run}}`;
}

/** JSON text of `steps.trigger`. */
export function triggerExports(event: string, context: string): string {
  return `{"event":${event},"context":${context}}`;
}

/** JSON texts of the outcome of a step, for the steps after it. */
export interface PassedStep {
  namespace: string;
  status: string;
  value?: string | null | undefined;
  exports: string;
  error?: string | null | undefined;
}

/**
 * A step as later steps see it, as JSON text: its return value, its exports, and the error that it
 * continued with.
 */
export function visibleStep({ namespace, status, value, exports, error }: PassedStep): {
  namespace: string;
  exports: string;
} {
  const own = exports.slice(1, -1);
  const members = [
    ...(typeof value === 'string' ? [`"$return_value":${value}`] : []),
    ...(own === '' ? [] : [own]),
    // Behind its exports: of two members of a name the last one counts.
    ...(status === 'continued' && typeof error === 'string' ? [`"$error":${error}`] : []),
  ];
  return { namespace, exports: `{${members.join(',')}}` };
}

/** As sealed texts begin, and no JSON does. */
const SEALED = 'v';

/**
 * Seals the argument of `$.flow.rerun` for the next run, because a step may put secrets into it.
 * Older rows have plain JSON text; openContext returns it unchanged.
 */
export function sealContext(sealer: Pick<Sealer, 'seal'>, accountId: string, json: string): string {
  return sealer.seal(accountId, json);
}

/** Throws SealError. */
export function openContext(sealer: Pick<Sealer, 'open'>, accountId: string, stored: string): string {
  return stored.startsWith(SEALED) ? sealer.open(accountId, stored) : stored;
}
