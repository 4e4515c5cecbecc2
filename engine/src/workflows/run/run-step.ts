import type {
  ComponentBundle,
  FlowAction,
  RunFault,
  RunLimits,
  RunOutcome,
  RunRequest,
  StepInput,
} from '@headwater/sandbox-runtime';
import { HeadwaterError, type HttpResponse, LIMITS, type RunProp } from '@headwater/shared';
import type { FetchTenant } from '../../egress/index.ts';
import {
  failed,
  type LiveTry,
  logsWithoutSecrets,
  outcomeWithoutSecrets,
  type RunnerContext,
} from '../../runs/index.ts';
import { readyRedactor, type Redactor, type Sealer, type SecretValue } from '../../secrets/index.ts';
import { failsEachTime } from '../../db/index.ts';
import { afterStep, type StepTries } from './after-step.ts';
import { createHeldUp, type HeldUp } from './held-up.ts';
import { missingComponentFault, type StepRuntime } from './deployment-runtime.ts';
import { createStepOutputs, type StepOutput, type StepOutputs } from './step-outputs.ts';

export interface StepContext extends Pick<RunnerContext, 'sandbox' | 'fetch' | 'callDataStore' | 'prepare' | 'nowMs'> {
  /** How long this node stood still since its start. */
  stalledMs: () => number;
  /**
   * Values of environment variables; those that are not set are left out. Throws RESOURCE_LIMIT if
   * they exceed the limit of a run.
   */
  openEnvironment: (accountId: string, names: readonly string[]) => Promise<Record<string, string>>;
  sealer: Pick<Sealer, 'seal' | 'open'>;
}

export interface StepTask {
  step: StepRuntime;
  /** Unique among all runs of all steps. */
  runId: string;
  /** Default: what it asks outside belongs to no trace. */
  trace?: FetchTenant['trace'];
  /** Made for each try: it says when the time of the execution is over. */
  input: () => Omit<StepInput, 'env' | 'namespace'>;
  limits: RunLimits;
  respond: (response: HttpResponse, immediate: boolean) => void;
  /** As in StepsHost. */
  stored: () => Promise<boolean>;
  lost?: AbortSignal | undefined;
  /** Shows the lines of a try while it goes on. */
  live?: (() => LiveTry) | undefined;
  /** As in EndedTry. */
  isTest: boolean;
}

export interface StepResult extends StepOutput {
  /** The request through `$.flow`; only if the step did not fail. */
  flow?: FlowAction;
  /** Absent if the step did not fail. */
  fault?: RunFault;
  /** Removes the step's secrets from texts. */
  redactor: Redactor | undefined;
  /**
   * Time that counts for the execution: the duration of its last try, without delays of this node.
   */
  ranMs: number;
}

/**
 * Runs a step in its sandbox. If its sandbox died it runs again, alone. If this node's delays made
 * it time out, it begins anew: see `afterStep`. Never rejects for errors of the step; rejects if
 * the database does not answer, or the sandbox cannot run it.
 */
export async function runStep(context: StepContext, task: StepTask): Promise<StepResult> {
  const {
    step,
    limits: { wallMs },
  } = task;
  const opened = await environmentOf(context, step);
  if (!opened.ok) return unstarted(context, task, opened);
  const prepared = await context.prepare(step, opened.secrets);
  if (!prepared.ok) return unstarted(context, task, prepared);
  const { env } = opened;
  const { props, redactor } = prepared;
  const held = await step.holdBundle();
  if (held === undefined) return unstarted(context, task, { fault: missingComponentFault(step.namespace), redactor });
  const { bundle, letGo } = held;
  try {
    const state: StepTries = { tries: 0, crashes: 0, lateMs: 0 };
    for (;;) {
      state.tries += 1;
      const heldUp = createHeldUp(context.stalledMs);
      const outputs = outputsOf(context, task, heldUp);
      const outcome = await context.sandbox.run(
        requestOf(task, { bundle, props, env, tries: state.tries }),
        logsWithoutSecrets(outputs.host, redactor),
      );
      const ranMs = Math.max(0, outcome.wallMs - heldUp.ms());
      if (task.lost?.aborted === true) return await resultOf(context, { task, outputs, redactor, outcome, ranMs });
      if (!outcome.ok && !task.isTest && outputs.failure() !== undefined) throw outputs.failure();
      const next = await afterStep(state, { outcome, heldUpMs: heldUp.ms(), wallMs, isTest: task.isTest });
      if (next === 'repeat') {
        await outputs.forget();
        continue;
      }
      const ended = next === 'abandon' ? failed(ABANDONED) : outcome;
      return await resultOf(context, { task, outputs, redactor, outcome: ended, ranMs });
    }
  } finally {
    letGo();
  }
}

const ABANDONED: RunFault = {
  code: 'RUN_ABANDONED',
  message:
    `The sandbox process ended ${LIMITS.maxInvocationAttempts} times while the step was alone in it; ` +
    'the execution is kept, and can be retried',
};

interface Unstarted {
  fault: RunFault;
  redactor: Redactor | undefined;
}

function unstarted(context: StepContext, task: StepTask, { fault, redactor }: Unstarted): Promise<StepResult> {
  const outputs = outputsOf(context, task, createHeldUp(context.stalledMs));
  return resultOf(context, { task, outputs, redactor, outcome: failed(fault), ranMs: 0 });
}

interface TriedOutputs extends StepOutputs {
  /** Error of the database while it served the step: the step is not to blame. */
  failure(): unknown;
}

/**
 * No external effect of a step happens before the earlier steps are durable: a step with visible
 * consequences never runs again. All other output of a step is stored with it or after it.
 */
function outputsOf(context: StepContext, task: StepTask, heldUp: HeldUp): TriedOutputs {
  const { step, limits, respond, stored, trace } = task;
  const tenant = { id: step.accountId, limits: limits.account, trace };
  let failure: unknown;
  const isStored = () =>
    heldUp.during(stored()).catch((error: unknown) => {
      // Data that can never be stored ends the execution; its last commit finds that.
      if (!failsEachTime(error)) failure ??= error;
      throw error;
    });
  const onAway = () => {
    failure ??= new Error('The database was away while a step asked it');
  };
  const outputs = createStepOutputs({
    staticProps: step.staticProps,
    live: task.live?.(),
    fetch: async (request, signal) => ((await isStored()) ? context.fetch(tenant, request, signal) : GONE),
    dataStore: async (call, signal) =>
      (await isStored()) ? context.callDataStore(tenant, call, signal, onAway) : GONE,
    respond(response, immediate) {
      if (!immediate) return respond(response, false);
      // If it cannot be stored, the execution ends and says so.
      isStored().then((isOurs) => isOurs && respond(response, true), ignore);
    },
  });
  return { ...outputs, failure: () => failure };
}

const GONE = { ok: false as const, message: 'The execution was cancelled, or goes on elsewhere' };

function ignore(): void {}

interface StepParts {
  bundle: ComponentBundle;
  props: Record<string, RunProp>;
  env: Record<string, string>;
  /** This one included. */
  tries: number;
}

function requestOf(task: StepTask, { bundle, props, env, tries }: StepParts): RunRequest {
  const { step, runId, input, limits, lost } = task;
  return {
    tenantId: step.accountId,
    isolateKey: step.isolateKey,
    runId: tries === 1 ? runId : `${runId}#${tries}`,
    bundle,
    entry: { kind: 'step' as const, input: { ...input(), namespace: step.namespace, env } },
    props,
    limits,
    alone: tries > 1,
    ...(lost === undefined ? {} : { signal: lost }),
  };
}

type Opened = { ok: true; env: Record<string, string>; secrets: SecretValue[] } | ({ ok: false } & Unstarted);

async function environmentOf({ openEnvironment }: StepContext, step: StepRuntime): Promise<Opened> {
  if (step.env.length === 0) return { ok: true, env: {}, secrets: [] };
  try {
    const env = await openEnvironment(step.accountId, step.env);
    const secrets = Object.entries(env).map(([name, value]) => ({ name: `env.${name}`, value }));
    return { ok: true, env, secrets };
  } catch (error) {
    if (!(error instanceof HeadwaterError) || error.limit === undefined) throw error;
    const { code, message, limit } = error;
    return { ok: false, fault: { code, message, limit }, redactor: await readyRedactor(step.redactor) };
  }
}

interface Ended {
  task: StepTask;
  outputs: StepOutputs;
  redactor: Redactor | undefined;
  outcome: RunOutcome;
  ranMs: number;
}

async function resultOf(
  { sealer }: StepContext,
  { task: { step }, outputs, redactor, outcome: ended, ranMs }: Ended,
): Promise<StepResult> {
  const outcome = outcomeWithoutSecrets(ended, redactor);
  if (!outcome.ok)
    return { ...(await outputs.take(step.accountId, sealer, redactor)), fault: outcome.fault, redactor, ranMs };
  const flow = outputs.flow();
  const output = await outputs.take(step.accountId, sealer, redactor, outcome.result);
  return { ...output, ...(flow === undefined ? {} : { flow }), redactor, ranMs };
}
