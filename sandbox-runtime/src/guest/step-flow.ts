import type { FlowAction } from '../sandbox-types.ts';
import { sliceText, toText } from './intrinsics.ts';
import { toJson } from './json-value.ts';
import type { RunContext, RunTracker } from './run-context.ts';
import { utf8LengthUpTo } from './utf8.ts';

const DAY_MS = 24 * 3600 * 1000;
const DEFAULT_RERUNS = 10;

// A wrong value that passes here fails the check of the host, which ends the whole process. So
// these functions are captured before component code could patch them.
const { ceil } = Math;
const { isInteger } = Number;

interface ResumeLinks {
  resume_url: string;
  cancel_url: string;
}

export interface GuestFlow {
  exit(reason?: unknown): object;
  suspend(ms?: unknown): ResumeLinks;
  delay(ms?: unknown): ResumeLinks;
  rerun(ms?: unknown, context?: unknown, maxRetries?: unknown): ResumeLinks;
}

/**
 * `$.flow`. It takes effect at the end of the step: the last request counts, and `exit` wins over
 * all.
 */
export function makeFlow(
  { runs, warn }: { runs: RunTracker; warn(context: RunContext, message: string): void },
  context: RunContext,
  links: ResumeLinks,
): GuestFlow {
  const { maxStepWaitMs, maxStepReruns, maxSummaryChars, maxRunOutputBytes } = context.limits;
  return {
    exit(reason) {
      const text = reason === undefined || reason === null ? undefined : toText(reason);
      // A reason is for people: a long one is cut, not refused.
      const shown =
        text !== undefined && text.length > maxSummaryChars ? `${sliceText(text, 0, maxSummaryChars - 1)}…` : text;
      const end = shown === undefined ? {} : { reason: shown };
      ask({ kind: 'exit', ...end }, context, warn);
      context.exits = end;
      return end;
    },
    suspend(ms = DAY_MS) {
      ask({ kind: 'suspend', ms: readMs('suspend', ms, maxStepWaitMs) }, context, warn);
      return { ...links };
    },
    delay(ms) {
      ask({ kind: 'delay', ms: readMs('delay', ms, maxStepWaitMs) }, context, warn);
      return { ...links };
    },
    rerun(ms, given, maxRetries) {
      const action: FlowAction = {
        kind: 'rerun',
        ms: readMs('rerun', ms ?? 0, maxStepWaitMs),
        maxRetries: readCount(maxRetries ?? DEFAULT_RERUNS, maxStepReruns),
      };
      if (given !== undefined) {
        action.context = toJson('The context given to $.flow.rerun', given);
        runs.takeBytes(context, utf8LengthUpTo(action.context, maxRunOutputBytes));
      }
      ask(action, context, warn);
      return { ...links };
    },
  };
}

function ask(action: FlowAction, context: RunContext, warn: (context: RunContext, message: string) => void): void {
  // How the execution goes on was decided when the step returned.
  if (context.ended && !context.over)
    warn(context, `$.flow.${action.kind} was called after the step had returned and does nothing: await what calls it`);
  else if (context.flow?.kind !== 'exit') context.flow = action;
}

function readMs(name: string, ms: unknown, max: number): number {
  if (typeof ms !== 'number' || !(ms >= 0 && ms <= max))
    throw new TypeError(`$.flow.${name}: ms must be a number of milliseconds from 0 to ${max}, not ${nameOf(ms)}`);
  return ceil(ms);
}

function readCount(count: unknown, max: number): number {
  if (typeof count !== 'number' || !isInteger(count) || count < 0 || count > max)
    throw new TypeError(`$.flow.rerun: maxRetries must be a whole number from 0 to ${max}, not ${nameOf(count)}`);
  return count;
}

function nameOf(value: unknown): string {
  return typeof value === 'number' || value === undefined || value === null ? toText(value) : `a ${typeof value}`;
}
