import { LIMITS } from '@headwater/shared';
import type { RunCommit } from './commit/commit-plan.ts';
import { readyRedactor } from '../secrets/index.ts';
import { errorEventJson } from './commit/error-event.ts';
import { type HeldInvocation, leaseOf, NO_LINES, originOf } from '../events/index.ts';
import type { SourceRuntime } from './source-runtime.ts';

export interface AbandonedRun {
  runtime: SourceRuntime;
  invocation: HeldInvocation;
  maxEventHops: number;
  /** JSON text: what its last try has logged. Default: nothing. */
  logs?: string;
  /** How many of these lines were shown before. Default: none. */
  liveLines?: number;
  /** When its last try began. Default: now. */
  startedAtMs?: number;
}

export const ABANDONED = {
  code: 'RUN_ABANDONED',
  message:
    `The sandbox process ended ${LIMITS.maxInvocationAttempts} times while the run was alone in it; ` +
    'the run is kept, and can be retried',
} as const;

/**
 * Gives up a run in one commit: its invocation is kept among the abandoned runs, and `$errors` is
 * told. Nothing that its tries have emitted is stored: a retry emits it.
 */
export async function abandonRun(
  { commit, nowMs }: { commit: (run: RunCommit) => Promise<unknown>; nowMs: () => number },
  { runtime, invocation, maxEventHops, logs = NO_LINES, liveLines = 0, startedAtMs = nowMs() }: AbandonedRun,
): Promise<void> {
  const { accountId, sourceId, id } = invocation;
  const endedAtMs = nowMs();
  const { code, message } = ABANDONED;
  const failed = {
    error: { code, message, ts: endedAtMs },
    originalEvent: invocation.event,
    originalContext: { id, emitter_id: sourceId, ...originOf(invocation) },
  };
  await commit({
    accountId,
    sourceId,
    invocation: leaseOf(invocation),
    abandoned: invocation,
    final: true,
    emits: [],
    dbWrites: new Map(),
    dedupe: runtime.dedupe,
    maxEventHops,
    record: {
      id,
      kind: invocation.kind,
      errorCode: code,
      errorMessage: message,
      logs,
      liveLines,
      startedAtMs,
      endedAtMs,
      errorEvent: await errorEventJson(failed, await readyRedactor(runtime.redactor)),
    },
  });
}
