import { LIMITS } from '@headwater/shared';
import type { LimitsCache } from '../accounts/index.ts';
import type { RunResponse } from '../contract/index.ts';
import type { DispatcherOptions } from './dispatcher.ts';
import { abandonRun, ABANDONED } from './abandon-run.ts';
import { type HeldInvocation, leaseOf } from '../events/index.ts';
import { LOST } from './lost-runs.ts';
import { respondAfterOutput, respondOnce } from './answer-client.ts';
import { type RunnerContext, type RunTask, runTask } from './run-invocation.ts';
import { runLimits } from './run-limits.ts';
import type { SourceRuntimes } from './source-runtime.ts';

export interface InvocationRunnerOptions extends RunnerContext {
  runtimes: SourceRuntimes;
  limits: Pick<LimitsCache, 'get'>;
  release: DispatcherOptions['release'];
}

/** Takes a held invocation to its committed end, whatever the state of its source. */
export function createInvocationRunner(
  options: InvocationRunnerOptions,
): (invocation: HeldInvocation, ran: () => void) => Promise<void> {
  return async (invocation, ran) => {
    const runtime = await options.runtimes.get(invocation.sourceId);
    if (runtime === undefined || runtime.deleted) return drop(options, invocation);
    if (!runtime.active && invocation.isUnstored) return drop(options, invocation);
    // A tick of a stopped timer is obsolete; other accepted invocations are not.
    if (!runtime.active && invocation.kind === 'timer') return drop(options, invocation);
    if (!runtime.active) {
      // It waits for the source to be active again; the change that activates it queues the lane.
      await options.release([invocation]);
      return;
    }
    const { respond, again, end } = invocation.isUnstored ? respondAfterOutput(invocation) : respondOnce(invocation);
    // Its node died between the last crash and the commit that gives it up.
    if (invocation.crashes >= LIMITS.maxInvocationAttempts) {
      const { maxEventHops } = await options.limits.get(runtime.accountId);
      await abandonRun(options, { runtime, invocation, maxEventHops });
      return end({ ok: false, ...ABANDONED, logs: [] });
    }
    const task: RunTask = {
      runtime,
      entry: { kind: 'run', event: invocation.event },
      kind: invocation.kind,
      limits: runLimits(invocation.kind, await options.limits.get(runtime.accountId)),
      invocation,
      respond,
      ...(again === undefined ? {} : { again }),
      ran,
    };
    const result = await runTask(options, task);
    // The deletion of a source takes its requests along.
    if (!result.ok && result.isTakenOver && (await options.runtimes.get(invocation.sourceId))?.deleted !== false)
      invocation.respond?.(SOURCE_GONE);
    end(result);
  };
}

const SOURCE_GONE: RunResponse = { ok: false, message: 'The source was stopped or deleted before it could run' };

/** Ends an invocation whose source is deleted, or whose timer is stopped. */
async function drop(context: RunnerContext, invocation: HeldInvocation): Promise<void> {
  if (invocation.isUnstored) return invocation.respond?.(LOST);
  await context.commit({ ...endOf(invocation), dedupe: undefined });
  invocation.respond?.(SOURCE_GONE);
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
