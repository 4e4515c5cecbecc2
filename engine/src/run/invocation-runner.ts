import { LIMITS } from '@headwater/shared';
import type { LimitsCache } from '../accounts/limits-cache.ts';
import type { DispatcherOptions } from './dispatcher.ts';
import { readyRedactor } from '../secrets/kept-redactors.ts';
import { errorEventJson } from './error-event.ts';
import { type HeldInvocation, leaseOf, originOf } from './invocation.ts';
import { type RunContext, type RunTask, respondOnce, runTask } from './run-invocation.ts';
import { runLimits } from './run-limits.ts';
import type { SourceRuntime, SourceRuntimes } from './source-runtime.ts';

export interface InvocationRunnerOptions extends RunContext {
  runtimes: SourceRuntimes;
  limits: Pick<LimitsCache, 'get'>;
  release: DispatcherOptions['release'];
}

/** Takes a held invocation to its committed end, whatever state its source is in by now. */
export function createInvocationRunner(
  options: InvocationRunnerOptions,
): (invocation: HeldInvocation, ran: () => void) => Promise<void> {
  return async (invocation, ran) => {
    const runtime = await options.runtimes.get(invocation.sourceId);
    if (runtime === undefined || runtime.deleted) return drop(options, invocation);
    // A tick of a timer that is stopped is over; what was accepted otherwise is not.
    if (!runtime.active && invocation.kind === 'timer') return drop(options, invocation);
    if (!runtime.active) {
      // It waits for the source to be active again; the change that activates it queues the lane.
      await options.release([invocation], { tried: false });
      return;
    }
    const { respond, end } = respondOnce(invocation);
    if (invocation.attempts > LIMITS.maxInvocationAttempts) {
      await abandon(options, runtime, invocation);
      return;
    }
    const task: RunTask = {
      runtime,
      entry: { kind: 'run', event: invocation.event },
      kind: invocation.kind,
      limits: runLimits(invocation.kind, await options.limits.get(runtime.accountId)),
      invocation,
      respond,
      ran,
    };
    end(await runTask(options, task));
  };
}

/** Nobody is left to run it for. */
async function drop(context: RunContext, invocation: HeldInvocation): Promise<void> {
  await context.commit({ ...endOf(invocation), dedupe: undefined });
  invocation.respond?.({ ok: false, message: 'The source was stopped or deleted before it could run' });
}

/** Each node that took it ended before it could commit: the invocation may be what ends them. */
async function abandon(
  options: InvocationRunnerOptions,
  runtime: SourceRuntime,
  invocation: HeldInvocation,
): Promise<void> {
  const nowMs = options.nowMs();
  const code = 'RUN_ABANDONED';
  const message = `The run was started ${LIMITS.maxInvocationAttempts} times and never ended; it is not started again`;
  const { maxEventHops } = await options.limits.get(runtime.accountId);
  await options.commit({
    ...endOf(invocation),
    dedupe: runtime.dedupe,
    maxEventHops,
    record: {
      id: invocation.id,
      kind: invocation.kind,
      errorCode: code,
      errorMessage: message,
      logs: '[]',
      startedAtMs: nowMs,
      endedAtMs: nowMs,
      errorEvent: await errorEventJson(
        {
          error: { code, message, ts: nowMs },
          originalEvent: invocation.event,
          originalContext: { id: invocation.id, emitter_id: invocation.sourceId, ...originOf(invocation) },
        },
        await readyRedactor(runtime.redactor),
      ),
    },
  });
}

function endOf(invocation: HeldInvocation) {
  const { accountId, sourceId } = invocation;
  return {
    accountId,
    sourceId,
    invocation: leaseOf(invocation),
    final: true,
    emits: [],
    dbWrites: new Map<string, string>(),
  };
}
