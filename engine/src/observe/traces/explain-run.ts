import { LIMITS } from '@headwater/shared';
import type { TraceRun } from '../../contract/index.ts';
import { BUILT_IN_CHANNELS } from '../../events/index.ts';

/** Explains the state of a run or execution, for a user who asks where a request went. */
export function explainRun(run: TraceRun): string {
  switch (run.status) {
    case 'queued':
      return run.isStopped === true ? `waits for ${nameOf(run)}, which is stopped` : 'is queued: no node has begun it';
    case 'running':
      return run.nodeId === undefined ? 'is running' : `is running on ${run.nodeId}, or next there`;
    case 'waiting':
      return waitOf(run);
    case 'error':
      return `failed: ${run.error?.code ?? 'no reason is kept'}; ${emittedOf(run)}`;
    case 'ok':
      return run.events.length === 0 && run.deduped === undefined ? 'ran, emitted nothing' : emittedOf(run);
    case 'failed':
      return `failed${inStep(run)}: ${run.error?.code ?? 'no reason is kept'}`;
    case 'exited':
      return `exited${inStep(run)}${run.reason === undefined ? '' : `: ${run.reason}`}`;
    case 'cancelled':
      return 'was cancelled';
    case 'succeeded':
      return `ran ${counted(run.steps.length, 'step')}, ${emittedOf(run)}`;
  }
}

const nameOf = ({ emitterId, emitterName }: TraceRun) => emitterName ?? emitterId;

function inStep({ steps }: TraceRun): string {
  const last = steps.at(-1);
  return last === undefined ? '' : ` in step ${last.namespace}`;
}

function waitOf(run: TraceRun): string {
  const { wait } = run;
  if (wait === undefined) return 'waits';
  const until = wait.until.toISOString();
  switch (wait.kind) {
    case 'delay':
      return `waits${inStep(run)} until ${until}`;
    case 'suspend':
      return `waits${inStep(run)} for its resume URL to be called, until ${until}`;
    case 'rerun':
      return `waits to run its step again at ${until}, or when its resume URL is called`;
    case 'retry':
      return `waits to try its step again at ${until}`;
  }
}

/** Events of built-in channels describe the run and are not its output. */
function emittedOf({ events, deduped }: TraceRun): string {
  const stored = events.filter(({ channel }) => !BUILT_IN_CHANNELS.has(channel)).length;
  if (deduped === undefined) return stored === 0 ? 'emitted nothing' : `${counted(stored, 'event')} emitted`;
  const dropped = stored === 0 && deduped.count === 1 ? 'dropped' : `${deduped.count} dropped`;
  return `${counted(stored + deduped.count, 'event')} emitted, ${dropped} by ${whyDropped(deduped)}`;
}

function whyDropped({ count, emitIds, strategy }: NonNullable<TraceRun['deduped']>): string {
  const by = strategy === undefined ? 'dedupe' : `dedupe ${strategy}`;
  if (emitIds.length === 0) return by;
  const more = count > Math.min(emitIds.length, LIMITS.maxMissedIds) ? ', …' : '';
  const isOne = emitIds.length === 1;
  const ids = `${isOne ? 'id' : 'ids'} ${emitIds.join(', ')}${more}`;
  switch (strategy) {
    case 'greatest':
      return `${by}: ${ids} ${isOne ? 'was' : 'were'} not greater than what came before`;
    case 'last':
      return `${by}: ${ids} ${isOne ? 'was' : 'were'} known, or came before what was`;
    default:
      return `${by}: ${ids} ${isOne ? 'was' : 'were'} known`;
  }
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
