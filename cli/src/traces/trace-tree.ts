import { limitText } from '../follow/log-limit.ts';
import { clockTime } from '../terminal/describe-time.ts';
import { safeLine } from '../terminal/safe-text.ts';
import type { Style } from '../terminal/style.ts';
import type { TreeNode } from '../terminal/tree.ts';
import type { Trace, TraceAttempt, TraceEvent, TraceLine, TraceListener, TraceRun, TraceStep } from './trace.ts';

export interface TraceView {
  style: Style;
  /** Also shows what steps got, and log lines of runs and steps. */
  showLogs: boolean;
}

const REASONS: Readonly<Record<string, string>> = {
  paused: 'it was stopped',
  no_such_channel: 'it is not subscribed to this channel',
  too_many_hops: 'the chain of events is too long',
  backlog_full: 'too much of the account was waiting',
  hold_full: 'it was stopped, and the account holds as much as it may',
  filtered: 'its filter does not match',
  filter_too_costly: 'its filter takes too many steps for this event',
};

/**
 * A trace as lines: each run with its steps, its events and sends, the listeners that got them, and
 * why others did not.
 */
export function traceTree({ runs }: Trace, view: TraceView): TreeNode[] {
  return runs.map((run) => runNode(run, view));
}

function runNode(run: TraceRun, view: TraceView): TreeNode {
  const { style } = view;
  const { type, id, emitter_id: emitterId, emitter_name: name, kind, invoked_at: invokedAt } = run;
  const parts = [
    style.bold(safeLine(name ?? emitterId)),
    style.dim(type === 'execution' ? id : `${id} of ${emitterId}`),
    ...(kind === null ? [] : [kind]),
    statusText(run.status, style),
    ...(invokedAt === null ? [] : [`at ${clockTime(invokedAt)}`]),
    ...timesOf(run),
  ];
  const children = [
    ...(isShown(run) ? [] : [leaf(safeLine(run.explanation))]),
    ...(run.error === null || run.steps.some(({ error }) => error !== null) ? [] : [errorNode(run.error, style)]),
    ...(view.showLogs && run.steps.length === 0 ? run.logs.map((line) => logNode(line, style)) : []),
    ...run.steps.map((step) => stepNode(step, view)),
    ...run.events.map((event) => eventNode(event, view)),
    ...run.sends.map(({ kind: how, status, attempts }) =>
      leaf(`send by ${how}: ${statusText(status, style)}${attemptsText(attempts)}`),
    ),
  ];
  return { text: parts.join('  '), children };
}

/** Whether what else is shown of the run says already what has become of it. */
function isShown({ status, events, deduped }: TraceRun): boolean {
  if (status === 'ok') return events.length > 0 && deduped === null;
  return status === 'error' || status === 'failed' || status === 'succeeded';
}

function timesOf({ queued_ms: queued, ran_ms: ran }: TraceRun): string[] {
  const texts = [
    ...(queued === null ? [] : [`waited ${durationText(queued)}`]),
    ...(ran === null ? [] : [`ran ${durationText(ran)}`]),
  ];
  return texts.length === 0 ? [] : [texts.join(', ')];
}

function stepNode(step: TraceStep, { style, showLogs }: TraceView): TreeNode {
  const again = step.runs > 1 ? `, run ${step.runs}` : '';
  const took = durationText(Math.max(0, step.ended_at - step.started_at));
  return {
    text: `step ${style.bold(safeLine(step.namespace))}  ${statusText(step.status, style)}  ${took}${again}`,
    children: [
      ...(step.summary === null ? [] : [leaf(safeLine(step.summary))]),
      ...(step.error === null ? [] : [errorNode(step.error, style)]),
      ...(showLogs ? Object.entries(step.props ?? {}).map(inputNode) : []),
      ...(showLogs ? step.logs.map((line) => logNode(line, style)) : []),
    ],
  };
}

function inputNode([name, value]: [string, unknown]): TreeNode {
  return leaf(`got ${safeLine(name)} = ${safeLine(JSON.stringify(value))}`);
}

function eventNode(event: TraceEvent, view: TraceView): TreeNode {
  const channel = event.name === '' ? '' : ` on ${safeLine(event.name)}`;
  const summary = event.summary === null ? '' : `  ${safeLine(event.summary)}`;
  return {
    text: `event${channel}${summary}  ${view.style.dim(event.emit_id)}`,
    children: event.listeners.map((listener) => listenerNode(listener, view)),
  };
}

function listenerNode(listener: TraceListener, view: TraceView): TreeNode {
  const { style } = view;
  const { listener_id: id, listener_name: name, delivery, run, reason = '', clause } = listener;
  if (run !== undefined) return runNode(run, view);
  const who = `${safeLine(name ?? id)}${name === null ? '' : ` ${style.dim(id)}`}`;
  if (delivery === undefined) {
    const which = typeof clause === 'string' ? `: ${safeLine(clause)}` : '';
    return leaf(`${style.yellow('not')} to ${who}: ${REASONS[reason] ?? safeLine(reason)}${which}`);
  }
  const { status, attempts, next_attempt_at: nextAt } = delivery;
  const next = nextAt === null ? '' : `, next at ${clockTime(nextAt)}`;
  return leaf(`to ${who}: ${statusText(status, style)}${attemptsText(attempts)}${next}`);
}

/** Outcome of the last attempt, and the number of attempts. */
function attemptsText(attempts: readonly TraceAttempt[]): string {
  const last = attempts.at(-1);
  if (last === undefined) return '';
  const what = last.status_code === undefined ? safeLine(last.error ?? 'no answer') : `${last.status_code}`;
  const count = attempts.length === 1 ? '' : `${attempts.length} attempts, the last: `;
  return ` (${count}${what} after ${durationText(last.duration_ms)})`;
}

const errorNode = ({ code, message }: { code: string; message: string }, style: Style) =>
  leaf(`${style.red(safeLine(code))}: ${safeLine(message)}`);

const logNode = ({ level, message, limit }: TraceLine, style: Style) =>
  leaf(style.dim(`${level}: ${safeLine(message)}`) + limitText(limit, style));

const leaf = (text: string): TreeNode => ({ text, children: [] });

const GOOD = new Set(['ok', 'succeeded', 'exited', 'done', 'delivered']);
const BAD = new Set(['error', 'failed', 'continued', 'cancelled']);

function statusText(status: string, style: Style): string {
  const text = safeLine(status);
  return GOOD.has(status) ? style.green(text) : BAD.has(status) ? style.red(text) : style.yellow(text);
}

/** `18 ms`, `1.2 s`, `3 min 20 s`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  if (minutes < 60) return `${minutes} min ${rest} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
