import { POST } from '../protocol/isolate-calls.ts';
import type { Bridge } from './bridge.ts';
import { formatMessage, formatValue } from './format-value.ts';
import { now } from './intrinsics.ts';
import type { RunContext, RunTracker } from './run-context.ts';
import { truncateUtf8, utf8Length } from './utf8.ts';

const LEVEL = { debug: 0, info: 1, warn: 2, error: 3 } as const;
export type Level = keyof typeof LEVEL;

/** Writes a line to the log of a run. Beyond the limit of lines one last line says so, and the rest is dropped. */
export class RunLog {
  readonly #bridge: Bridge;
  readonly #runs: RunTracker;

  constructor(bridge: Bridge, runs: RunTracker) {
    this.#bridge = bridge;
    this.#runs = runs;
  }

  write(context: RunContext | undefined, level: Level, message: string): void {
    if (context === undefined || context.over) return;
    const { maxLogLinesPerRun, maxLogLineBytes } = context.limits;
    context.logLines += 1;
    if (context.logLines > maxLogLinesPerRun + 1) return;
    const last = context.logLines === maxLogLinesPerRun + 1;
    const text = last
      ? `Further log lines are dropped; the limit maxLogLinesPerRun is ${maxLogLinesPerRun}`
      : truncateUtf8(message, maxLogLineBytes);
    this.#runs.takeBytes(context, utf8Length(text));
    this.#bridge.post(POST.log, context.run, `${last ? LEVEL.warn : LEVEL[level]}:${now()}`, text);
  }
}

/** The guest's `console`. Everything goes to the log of the run; timers and counters are kept per isolate. */
export function makeConsole(log: RunLog, runs: RunTracker): Record<string, (...args: unknown[]) => void> {
  const timers = new Map<string, number>();
  const counters = new Map<string, number>();
  const at =
    (level: Level) =>
    (...args: unknown[]): void =>
      log.write(runs.current(), level, formatMessage(args));
  const elapsed = (label: unknown): string => `${String(label)}: ${now() - (timers.get(String(label)) ?? now())}ms`;
  return {
    debug: at('debug'),
    log: at('info'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    trace: at('debug'),
    dir: (value) => at('info')(formatValue(value)),
    table: (value) => at('info')(formatValue(value)),
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
