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
import { failed } from '../../run/run-in-sandbox.ts';
import { logsWithoutSecrets, outcomeWithoutSecrets } from '../../run/redact-run.ts';
import type { RunContext } from '../../run/run-invocation.ts';
import { readyRedactor } from '../../secrets/kept-redactors.ts';
import type { Redactor, SecretValue } from '../../secrets/redactor.ts';
import type { Sealer } from '../../secrets/seal.ts';
import { componentIsGone, type StepRuntime } from './deployment-runtime.ts';
import { createStepOutputs, type StepOutput, type StepOutputs } from './step-outputs.ts';

export interface StepContext extends Pick<RunContext, 'sandbox' | 'fetch' | 'callDataStore' | 'prepare' | 'nowMs'> {
  /** Values of environment variables; those that are not set are left out. Throws RESOURCE_LIMIT where they are more than a run may have. */
  openEnvironment: (accountId: string, names: readonly string[]) => Promise<Record<string, string>>;
  sealer: Pick<Sealer, 'seal' | 'open'>;
}

export interface StepTask {
  step: StepRuntime;
  /** Unique among all runs of all steps. */
  runId: string;
  input: Omit<StepInput, 'env' | 'namespace'>;
  limits: RunLimits;
  respond: (response: HttpResponse, immediate: boolean) => void;
  /** As in StepsHost. */
  stored: () => Promise<boolean>;
  lost?: AbortSignal | undefined;
}

export interface StepResult extends StepOutput {
  /** What `$.flow` was asked for; of a step that has not failed. */
  flow?: FlowAction;
  /** Absent where it has not failed. */
  fault?: RunFault;
  /** What takes the step's secrets out of texts. */
  redactor: Redactor | undefined;
}

/**
 * Runs a step in its sandbox. One whose sandbox died through no fault of its own is run again, alone. Never rejects for what
 * the step does; rejects where the database does not answer.
 */
export async function runStep(context: StepContext, task: StepTask): Promise<StepResult> {
  const { step } = task;
  const opened = await environmentOf(context, step);
  if (!opened.ok) return unstarted(context, task, opened);
  const prepared = await context.prepare(step, opened.secrets);
  if (!prepared.ok) return unstarted(context, task, prepared);
  const { env } = opened;
  const { props, redactor } = prepared;
  const held = await step.holdBundle();
  if (held === undefined) return unstarted(context, task, { fault: componentIsGone(step.namespace), redactor });
  const { bundle, letGo } = held;
  try {
    for (let attempt = 1; ; attempt++) {
      const outputs = outputsOf(context, task);
      const outcome = await context.sandbox.run(
        requestOf(task, { bundle, props, env, attempt }),
        logsWithoutSecrets(outputs.host, redactor),
      );
      const mayRepeat =
        !outcome.ok && outcome.innocent && task.lost?.aborted !== true && attempt < LIMITS.maxInvocationAttempts;
      if (!mayRepeat) return await resultOf(context, task, outputs, redactor, outcome);
    }
  } finally {
    letGo();
  }
}

interface Unstarted {
  fault: RunFault;
  redactor: Redactor | undefined;
}

function unstarted(context: StepContext, task: StepTask, { fault, redactor }: Unstarted): Promise<StepResult> {
  return resultOf(context, task, outputsOf(context, task), redactor, failed(fault));
}

/**
 * Nothing that a step does is felt outside before the steps before it are durable: what somebody has seen the consequences of
 * is never run again. All else that a step puts out is stored with it or after it.
 */
function outputsOf(context: StepContext, { step, limits, respond, stored }: StepTask): StepOutputs {
  const tenant = { id: step.accountId, limits: limits.account };
  const onceStored = async <T>(effect: () => Promise<T>) => ((await stored()) ? effect() : GONE);
  return createStepOutputs({
    fetch: (request, signal) => onceStored(() => context.fetch(tenant, request, signal)),
    dataStore: (call, signal) => onceStored(() => context.callDataStore(tenant, call, signal)),
    respond(response, immediate) {
      if (!immediate) return respond(response, false);
      // Where it cannot be stored, the execution comes to an end that says so.
      stored().then((isOurs) => isOurs && respond(response, true), ignore);
    },
  });
}

const GONE = { ok: false as const, message: 'The execution was cancelled, or goes on elsewhere' };

function ignore(): void {}

interface StepParts {
  bundle: ComponentBundle;
  props: Record<string, RunProp>;
  env: Record<string, string>;
  attempt: number;
}

function requestOf(task: StepTask, { bundle, props, env, attempt }: StepParts): RunRequest {
  const { step, runId, input, limits, lost } = task;
  return {
    tenantId: step.accountId,
    isolateKey: step.isolateKey,
    runId: attempt === 1 ? runId : `${runId}#${attempt}`,
    bundle,
    entry: { kind: 'step' as const, input: { ...input, namespace: step.namespace, env } },
    props,
    limits,
    alone: attempt > 1,
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

async function resultOf(
  { sealer }: StepContext,
  { step }: StepTask,
  outputs: StepOutputs,
  redactor: Redactor | undefined,
  ended: RunOutcome,
): Promise<StepResult> {
  const outcome = outcomeWithoutSecrets(ended, redactor);
  if (!outcome.ok) return { ...(await outputs.take(step.accountId, sealer, redactor)), fault: outcome.fault, redactor };
  const flow = outputs.flow();
  const output = await outputs.take(step.accountId, sealer, redactor, outcome.result);
  return { ...output, ...(flow === undefined ? {} : { flow }), redactor };
}
