import {
  addStep,
  limitFault,
  NO_STEPS,
  type RunFault,
  type RunLimits,
  type StepTexts,
} from '@headwater/sandbox-runtime';
import type { AccountLimits, HttpResponse } from '@headwater/shared';
import type { Redactor } from '../../secrets/index.ts';
import { spanOfStep } from '../../tracing/index.ts';
import type { DeploymentRuntime, StepRuntime } from './deployment-runtime.ts';
import { stepContext, triggerExports, visibleStep } from './execution-context.ts';
import type { LiveTry, StepRow, StoredSend } from '../../runs/index.ts';
import type { PartWallLimit } from './part-wall-limit.ts';
import { runStep, type StepContext, type StepResult, type StepTask } from './run-step.ts';
import { stepErrorJson } from './step-error.ts';

/** Steps `from` to before `to` of a deployment, for one event. */
export interface StepsTask {
  deployment: DeploymentRuntime;
  executionId: string;
  /** The invocation that its trace began with. Absent: a test, which has none. */
  traceId?: string;
  /** JSON text. */
  event: string;
  /** JSON text: `steps.trigger.context`. */
  context: string;
  /** Steps that were completed before: what later ones see of them. */
  done: readonly { namespace: string; exports: string }[];
  from: number;
  to: number;
  /** Run of the first step, if it ran before. Default: 1 run, no failures. */
  again?: StepRun;
  account: AccountLimits;
  /** Bytes of the execution's earlier output, for the limit on all of it. */
  usedBytes: number;
  wall: PartWallLimit;
  jit: boolean;
}

export interface StepsHost {
  /**
   * A step is done, and others follow it. False: the execution is known not to be ours any more.
   */
  store(row: StepRow): boolean;
  /**
   * Resolves when every step so far is durable, and it is known that the execution is ours. False:
   * it is not any more.
   */
  stored(): Promise<boolean>;
  /** Fires when it is known that the execution is not ours any more. Default: never. */
  lost?: AbortSignal;
  /** The sandbox is done with a step: what follows is written. */
  stepEnded(): void;
  /** Before each step but the first. False: this node stops. */
  mayGoOn(): Promise<boolean>;
  respond(response: HttpResponse, immediate: boolean): void;
  urls(position: number, runs: number): { resumeUrl: string; cancelUrl: string };
  /** Shows lines of a step while it runs. Default: they are shown when the execution has ended. */
  live?: (namespace: string) => LiveTry;
}

/** `last` is not stored. */
export type StepsEnd =
  | { kind: 'completed'; last: StepRow | undefined }
  | { kind: 'exited'; last: StepRow; reason?: string }
  | { kind: 'failed'; last: StepRow; step: StepRuntime; fault: RunFault; redactor: Redactor | undefined; run: StepRun }
  | { kind: 'waits'; last: StepRow; why: 'delay' | 'suspend'; ms: number }
  /** `redactor`: for the input of the next run. */
  | {
      kind: 'again';
      last: StepRow;
      ms: number;
      context: string | undefined;
      redactor: Redactor | undefined;
      run: StepRun;
    }
  /** Another node has taken it over, or it was cancelled. */
  | { kind: 'lost' }
  | { kind: 'stopped' };

/**
 * One run of a step. `context`, `callback`: JSON texts, given to `$.flow.rerun` and by the caller
 * that resumed the step early.
 */
export interface StepRun {
  /** Counts from 1. */
  runs: number;
  /** How many of those before it have failed. */
  failures: number;
  context?: string | undefined;
  callback?: string | undefined;
}

/**
 * Runs steps one after the other. The next one begins while the one before is being stored, and
 * waits for that before anything of it is felt outside: see `outputsOf` in run-step.ts.
 */
export async function runSteps(context: StepContext, task: StepsTask, host: StepsHost): Promise<StepsEnd> {
  const trigger = { namespace: 'trigger', exports: triggerExports(task.event, task.context) };
  let seen = [trigger, ...task.done].reduce(addStep, NO_STEPS);
  let usedBytes = task.usedBytes + task.event.length;
  let leftMs = task.wall.ms;
  let last: StepRow | undefined;
  for (let position = task.from; position < task.to; position++) {
    if (last !== undefined) {
      if (!host.store(last)) return { kind: 'lost' };
      if (!(await host.mayGoOn())) return (await host.stored()) ? { kind: 'stopped' } : { kind: 'lost' };
    }
    if (isLost(host)) return { kind: 'lost' };
    const ran = await runOne(context, task, host, { position, seen, usedBytes, leftMs });
    host.stepEnded();
    if (isLost(host)) return { kind: 'lost' };
    usedBytes += ran.bytes;
    leftMs -= ran.result.ranMs;
    const end = endOf(ran);
    if (end !== undefined) return end;
    last = ran.row;
    seen = addStep(seen, visibleStep(ran.row));
  }
  return { kind: 'completed', last };
}

function isLost({ lost }: StepsHost): boolean {
  return lost?.aborted === true;
}

interface Ran {
  step: StepRuntime;
  run: StepRun;
  row: StepRow;
  result: StepResult;
  bytes: number;
}

interface Place {
  position: number;
  seen: StepTexts;
  usedBytes: number;
  /** Remaining time of the execution. */
  leftMs: number;
}

async function runOne(context: StepContext, task: StepsTask, host: StepsHost, place: Place): Promise<Ran> {
  const { position, seen, usedBytes, leftMs } = place;
  const step = task.deployment.steps[position] as StepRuntime;
  const run = runOf(task, position);
  const startedAtMs = context.nowMs();
  const { jit } = task;
  const { live } = host;
  const ended: StepResult =
    leftMs <= 0
      ? {
          exports: '{}',
          value: undefined,
          logs: '[]',
          logCount: 0,
          liveLines: 0,
          sends: [],
          props: undefined,
          fault: lateFault(task, -leftMs),
          redactor: undefined,
          ranMs: 0,
        }
      : await runStep(context, {
          step,
          runId: `${task.executionId}/${step.namespace}/${run.runs}`,
          ...traceOf(task, step, run),
          input: () => ({
            steps: seen,
            context: stepContext(task.context, { deadlineMs: context.nowMs() + leftMs, jit, ...run }),
            ...host.urls(position, run.runs),
          }),
          limits: limitsOf(task, leftMs),
          isTest: jit,
          respond: host.respond,
          stored: host.stored,
          lost: host.lost,
          live: live && (() => live(step.namespace)),
        });
  const result = withinLimits(task, ended, usedBytes + bytesOf(ended));
  const { exports, value, logs, liveLines, sends, props, fault } = result;
  const row: StepRow = {
    position,
    namespace: step.namespace,
    status: fault === undefined ? 'done' : goesOn(task, step, run, fault) ? 'continued' : 'failed',
    runs: run.runs,
    value,
    exports,
    logs,
    liveLines,
    sends,
    props,
    error: fault === undefined ? undefined : stepErrorJson(fault, step),
    startedAtMs,
    endedAtMs: context.nowMs(),
  };
  return { step, run, row, result, bytes: bytesOf(result) };
}

function traceOf(
  { traceId: rootId, executionId }: StepsTask,
  { namespace }: StepRuntime,
  { runs }: StepRun,
): Pick<StepTask, 'trace'> {
  return rootId === undefined ? {} : { trace: { rootId, span: spanOfStep(executionId, namespace, runs) } };
}

function runOf({ from, again }: StepsTask, position: number): StepRun {
  return (position === from ? again : undefined) ?? { runs: 1, failures: 0 };
}

/** How often a step is tried again after a failure. */
export function retriesOf(
  { retries }: Pick<StepRuntime, 'retries'>,
  { settings }: Pick<DeploymentRuntime, 'settings'>,
) {
  return retries ?? settings.retries;
}

/** Faults that are not the step's own: later steps would fail too, or must not run. */
const NOT_PASSED = new Set<string>(['WALL_LIMIT', 'INTERNAL', 'RUN_ABANDONED']);
/** This limit covers all steps together. */
const isOfExecution = ({ limit }: RunFault): boolean => limit?.name === 'maxRunOutputBytes';

/** Whether the steps behind a failure run all the same. In a test no step is tried again. */
function goesOn({ deployment, jit }: StepsTask, step: StepRuntime, { failures }: StepRun, fault: RunFault): boolean {
  if (step.onError !== 'continue' || NOT_PASSED.has(fault.code) || isOfExecution(fault)) return false;
  return jit || failures >= retriesOf(step, deployment);
}

function endOf({ step, run, row, result }: Ran): StepsEnd | undefined {
  const { fault, flow, redactor } = result;
  if (row.status === 'continued') return undefined;
  if (fault !== undefined) return { kind: 'failed', last: row, step, fault, redactor, run };
  switch (flow?.kind) {
    case undefined:
      return undefined;
    case 'exit':
      return {
        kind: 'exited',
        last: row,
        ...(flow.reason === undefined ? {} : { reason: redactor?.text(flow.reason) ?? flow.reason }),
      };
    case 'delay':
    case 'suspend':
      return { kind: 'waits', last: { ...row, status: 'waiting' }, why: flow.kind, ms: flow.ms };
    case 'rerun': {
      // Enough reruns: the step is done as it is. Retries after a failure do not count.
      if (run.runs - run.failures > flow.maxRetries) return undefined;
      const { ms, context } = flow;
      return { kind: 'again', last: { ...row, status: 'rerun' }, ms, context, redactor, run };
    }
  }
}

function limitsOf({ deployment, account }: StepsTask, wallMs: number): RunLimits {
  // The account may have had more when the version was saved.
  const memoryMb = Math.min(deployment.settings.memoryMb, account.memoryMb);
  return { cpuMs: account.runCpuMs, wallMs, wallLimit: 'timerRunWallMs', memoryMb, account };
}

/**
 * A run that met the deadline is told which it was: the sandbox knows only how long it was given.
 */
function withinLimits(task: StepsTask, result: StepResult, usedBytes: number): StepResult {
  const { maxRunOutputBytes: value } = task.account;
  if (result.fault?.code === 'WALL_LIMIT' && result.fault.limit?.name === 'timerRunWallMs') {
    const { stack, limit } = result.fault;
    const late = lateFault(task, limit.used - limit.value);
    return { ...result, fault: { ...late, ...(stack === undefined ? {} : { stack }) } };
  }
  if (usedBytes <= value) return result;
  // Also for a failed step: its output is as large, and later steps may run.
  const fault = limitFault({ name: 'maxRunOutputBytes', value, used: usedBytes });
  return { ...result, exports: '{}', value: undefined, logs: '[]', logCount: 0, liveLines: 0, sends: [], fault };
}

function lateFault({ wall: { name, ms } }: StepsTask, overMs: number): RunFault {
  const usedMs = Math.ceil(ms + overMs);
  if (name !== 'timeout_seconds') return limitFault({ name, value: ms, used: usedMs });
  return {
    code: 'WALL_LIMIT',
    message: `The execution took longer than its workflow's timeout_seconds of ${ms / 1_000}`,
    limit: { name, value: ms / 1_000, used: usedMs / 1_000 },
  };
}

function bytesOf({ exports, value = '', logs, sends }: StepResult): number {
  return exports.length + value.length + logs.length + bytesOfSends(sends);
}

export function bytesOfSends(sends: readonly StoredSend[]): number {
  return sends.reduce((bytes, { payload }) => bytes + payload.length, 0);
}
