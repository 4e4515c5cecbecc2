import type { LogLevel, LogLine } from '@headwater/shared';
import { writeLogHead } from '../bridge/log-head.ts';
import type { Bridge } from './bridge.ts';
import { formatWith } from './node/format.ts';
import { inspectForLog } from './node/inspect.ts';
import { now } from './intrinsics.ts';
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

  #post({ run }: RunContext, level: LogLevel, text: string, limit: LogLine['limit'] | undefined): void {
    this.#bridge.post({ kind: 'log', run, head: writeLogHead(level, now(), limit), message: text });
  }
}

/**
 * The guest's `console`. Everything goes to the log of the run; timers and counters are kept per
 * isolate.
 */
export function makeConsole(log: RunLog, runs: RunTracker): Record<string, (...args: unknown[]) => void> {
  const timers = new Map<string, number>();
  const counters = new Map<string, number>();
  const at =
    (level: LogLevel) =>
    (...args: unknown[]): void =>
      log.write(runs.current(), level, formatWith({ maxChars: MAX_COUNTED_CHARS + 1 }, args));
  const elapsed = (label: unknown): string => `${String(label)}: ${now() - (timers.get(String(label)) ?? now())}ms`;
  return {
    debug: at('debug'),
    log: at('info'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    trace: at('debug'),
    dir: (value) => at('info')(inspectForLog(value)),
    table: (value) => at('info')(inspectForLog(value)),
    group: (...args) => (args.length > 0 ? at('info')(...args) : undefined),
    groupCollapsed: (...args) => (args.length > 0 ? at('info')(...args) : undefined),
    groupEnd: () => undefined,
    assert: (condition, ...args) => (condition ? undefined : at('error')('Assertion failed', ...args)),
    time: (label = 'default') => void timers.set(String(label), now()),
    timeLog: (label = 'default', ...args) => at('info')(elapsed(label), ...args),
    timeEnd: (label = 'default') => at('info')(elapsed(label)),
    count: (label = 'default') => {
      const count = (counters.get(String(label)) ?? 0) + 1;
      counters.set(String(label), count);
      at('info')(`${String(label)}: ${count}`);
    },
    countReset: (label = 'default') => void counters.delete(String(label)),
  };
}
