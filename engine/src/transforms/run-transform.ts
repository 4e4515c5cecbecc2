import { readTransformAnswer, type RunHost, type RunOutcome, type Sandbox } from '@headwater/sandbox-runtime';
import { createLimiter, type ExceededLimit, LIMITS, newId } from '@headwater/shared';
import type { LimitsCache } from '../accounts/index.ts';
import { storableText } from '../events/index.ts';
import type { Log } from '../contract/index.ts';
import { type HoldBundle, runLimits } from '../runs/index.ts';
import {
  applyTransform,
  type DueDelivery,
  type GivenTransform,
  requestBefore,
  type RunTransform,
  type TransformedRequest,
  transformInput,
  type TransformResult,
} from '../outbox/index.ts';

export interface TransformParts {
  sandbox: Pick<Sandbox, 'run'>;
  holdBundle: HoldBundle;
  limits: Pick<LimitsCache, 'get'>;
  log: Log;
}

const MAX_LOGS = 20;
const MAX_LOG_CHARS = 1_000;
const MAX_ERROR_CHARS = 2_000;

/**
 * Runs transforms in the process of their account, a few of each account at a time. A transform
 * gets the request and nothing else: no secret, no network, no store.
 */
export function createTransforms({ sandbox, holdBundle, limits, log }: TransformParts): RunTransform {
  const turns = createLimiter(LIMITS.maxTransformsPerTenant);

  async function run(
    delivery: DueDelivery,
    input: string,
    given: GivenTransform,
    lines: string[],
    signal: AbortSignal,
  ) {
    const { accountId } = delivery;
    const { componentId } = given;
    const held =
      given.bundle === undefined
        ? await holdBundle(accountId, componentId)
        : { bundle: given.bundle, letGo: () => undefined };
    if (held === undefined) return undefined;
    try {
      const request = {
        tenantId: accountId,
        isolateKey: `${componentId}:transform`,
        bundle: held.bundle,
        entry: { kind: 'transform', request: input } as const,
        props: {},
        limits: runLimits('hook', await limits.get(accountId)),
        signal,
      };
      // It has no effect but its answer: if its process died without its fault, it runs again,
      // alone.
      for (let attempt = 1; ; attempt++) {
        const outcome = await sandbox.run(
          { ...request, runId: newId('invocation'), alone: attempt > 1 },
          hostOf(lines),
        );
        const isOver = outcome.ok || !outcome.innocent || signal.aborted;
        if (isOver || attempt === LIMITS.maxInvocationAttempts) return outcome;
      }
    } finally {
      held.letGo();
    }
  }

  return async (delivery, given, signal) => {
    const before = requestBefore(delivery);
    const logs: string[] = [];
    const end = await turns.take(delivery.accountId, signal);
    if (end === undefined) return { before, logs, result: { kind: 'stopped' } };
    try {
      const outcome = await run(delivery, transformInput(delivery, before), given, logs, signal);
      if (signal.aborted) return { before, logs, result: { kind: 'stopped' } };
      return { before, logs, result: resultOf(delivery, before, outcome) };
    } catch (error) {
      // The database is away, or the like: its message is for the operator.
      log.warn({ webhook: delivery.webhookId, delivery: delivery.id, err: error }, 'a transform could not be run');
      return { before, logs, result: { kind: 'failed', error: 'The server could not run the transform' } };
    } finally {
      end();
    }
  };
}

function resultOf(
  delivery: DueDelivery,
  before: TransformedRequest,
  outcome: RunOutcome | undefined,
): TransformResult & { limit?: ExceededLimit } {
  if (outcome === undefined) return { kind: 'failed', error: 'The component of the transform is gone' };
  if (outcome.ok) {
    const answer = readTransformAnswer(outcome.result ?? '');
    if (answer !== undefined) return applyTransform(delivery, before, answer);
    return { kind: 'failed', error: 'The result of the transform could not be read' };
  }
  const { message, stack, limit } = outcome.fault;
  const [place] = /\n\s*(at [^\n]+)/.exec(stack ?? '')?.slice(1) ?? [];
  const error = errorText(place === undefined ? message : `${message} (${place})`);
  return { kind: 'failed', error, ...(limit === undefined ? {} : { limit }) };
}

function errorText(message: string): string {
  return storableText(`The transform failed: ${message}`.slice(0, MAX_ERROR_CHARS).toWellFormed());
}

function hostOf(logs: string[]): RunHost {
  return {
    // The guest throws at the line of such a call; forged ones have no effect.
    emit: () => undefined,
    respond: () => undefined,
    dbSet: () => undefined,
    dbGet: () => Promise.resolve(undefined),
    log({ message }) {
      if (logs.length < MAX_LOGS) logs.push(message.slice(0, MAX_LOG_CHARS));
    },
    fetch: () => Promise.resolve({ ok: false, message: 'A transform makes no requests: it only changes one' }),
    dataStore: () => Promise.resolve({ ok: false, message: 'A transform has no data stores' }),
  };
}
