import type { LogLevel, LogLine } from '@headwater/shared';
import { writeLogHead } from '../bridge/log-head.ts';
import type { Bridge } from './bridge.ts';
import { tableOf } from './console-table.ts';
import { now } from './intrinsics.ts';
import { formatForLog, inspectForLog, type InspectOptions } from './node/inspect.ts';
import type { RunContext, RunTracker } from './run-context.ts';
import { cutUtf8, utf8Length, utf8LengthUpTo } from './utf8.ts';

/** In longer lines, characters are counted instead of bytes. */
const MAX_COUNTED_CHARS = 64 * 1024;

/**
 * Writes a line to the log of a run. Longer ones are cut; beyond the limit of lines the rest is
 * dropped.
 */
export class RunLog {
  readonly #bridge: Bridge;
  readonly #runs: RunTracker;

  constructor(bridge: Bridge, runs: RunTracker) {
    this.#bridge = bridge;
    this.#runs = runs;
  }

  write(context: RunContext | undefined, level: LogLevel, message: string): void {
    if (context === undefined || context.over) return;
    const { maxLogLinesPerRun, maxLogLineBytes: value } = context.limits;
    if (context.logLines > maxLogLinesPerRun) return;
    if (context.logLines === maxLogLinesPerRun) {
      context.logLines += 1;
      // In its place the process says that lines are dropped.
      return this.#post(context, level, '', undefined);
    }
    const used = utf8LengthUpTo(message, MAX_COUNTED_CHARS);
    const isCut = used > value;
    const text = isCut ? cutUtf8(message, value) : message;
    // One that there is no room for is no line: the process, which counts those that come, would
    // take the empty one for a line as any other.
    this.#runs.takeBytes(context, isCut ? utf8Length(text) : used);
    context.logLines += 1;
    this.#post(context, level, text, isCut ? { name: 'maxLogLineBytes', value, used } : undefined);
  }

  /**
   * A line of the runtime about a call of the component. The call must not fail by it: the line is
   * dropped when the run has no room left for output.
   */
  warn(context: RunContext, message: string): void {
    const { maxLogLineBytes, maxRunOutputBytes } = context.limits;
    const bytes = utf8LengthUpTo(message, maxLogLineBytes);
    const taken = bytes > maxLogLineBytes ? maxLogLineBytes : bytes;
    if (context.bytes + taken <= maxRunOutputBytes) this.write(context, 'error', message);
  }

  #post({ run }: RunContext, level: LogLevel, text: string, limit: LogLine['limit'] | undefined): void {
    this.#bridge.post({ kind: 'log', run, head: writeLogHead(level, now(), limit), message: text });
  }
}

type Method = (...args: unknown[]) => void;
type Methods = Record<string, Method>;
type Write = (level: LogLevel, text: string) => void;

const GROUP_INDENT = 2;
/** Deeper ones are indented no further. */
const MAX_GROUPS = 100;

/**
 * The guest's `console`. Everything goes to the log of the run; timers and counters are kept per
 * isolate, groups per run.
 */
export function makeConsole(log: RunLog, runs: RunTracker): Methods {
  const write: Write = (level, text) => {
    const context = runs.current();
    const depth = context?.logGroups ?? 0;
    const indent = ' '.repeat(Math.min(depth, MAX_GROUPS) * GROUP_INDENT);
    log.write(context, level, depth === 0 ? text : indent + text.replaceAll('\n', `\n${indent}`));
  };
  const at =
    (level: LogLevel): Method =>
    (...args) =>
      write(level, formatForLog(args));
  const enter = (by: number): void => {
    const context = runs.current();
    if (context !== undefined) context.logGroups = Math.max(0, context.logGroups + by);
  };
  const group = (args: unknown[]): void => {
    if (args.length > 0) at('info')(...args);
    enter(1);
  };
  return {
    debug: at('debug'),
    log: at('info'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    dirxml: at('info'),
    trace: (...args) => {
      const told = args.length === 0 ? 'Trace' : `Trace: ${formatForLog(args)}`;
      write('debug', `${told}${framesOfCaller()}`);
    },
    dir: (value, options) => write('info', inspectForLog(value, options as InspectOptions | undefined)),
    table: (value, columns) => write('info', tableOf(value, columns) ?? formatForLog([value])),
    group: (...args) => group(args),
    groupCollapsed: (...args) => group(args),
    groupEnd: () => enter(-1),
    assert: (condition, ...args) => {
      if (condition) return;
      const [first, ...rest] = args;
      if (typeof first === 'string') at('warn')(`Assertion failed: ${first}`, ...rest);
      else at('warn')('Assertion failed', ...args);
    },
    timeStamp: () => undefined,
    profile: () => undefined,
    profileEnd: () => undefined,
    ...timersOf(write, at('info')),
    ...countersOf(write),
  };
}

function timersOf(write: Write, log: Method): Methods {
  const timers = new Map<string, number>();
  const elapsed = (label: string, name: string): string | undefined => {
    const since = timers.get(label);
    if (since === undefined) write('warn', `Warning: No such label '${label}' for console.${name}()`);
    return since === undefined ? undefined : `${label}: ${now() - since}ms`;
  };
  return {
    time: (label = 'default') => void timers.set(String(label), now()),
    timeLog: (label = 'default', ...args) => {
      const text = elapsed(String(label), 'timeLog');
      if (text !== undefined) log('%s', text, ...args);
    },
    timeEnd: (label = 'default') => {
      const text = elapsed(String(label), 'timeEnd');
      if (text !== undefined) write('info', text);
      timers.delete(String(label));
    },
  };
}

function countersOf(write: Write): Methods {
  const counters = new Map<string, number>();
  return {
    count: (label = 'default') => {
      const count = (counters.get(String(label)) ?? 0) + 1;
      counters.set(String(label), count);
      write('info', `${String(label)}: ${count}`);
    },
    countReset: (label = 'default') => {
      if (!counters.delete(String(label))) write('warn', `Warning: Count for '${String(label)}' does not exist`);
    },
  };
}

/** The frames behind this function and the method of `console` that asks. */
function framesOfCaller(): string {
  const frames = String(new Error('Trace').stack).split('\n').slice(3);
  return frames.length === 0 ? '' : `\n${frames.join('\n')}`;
}
