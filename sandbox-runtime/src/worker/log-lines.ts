import type { ExceededLimit, LogLine } from '@headwater/shared';
import { LOG_CUT_MARK, CUT_MARK_BYTES } from '../bridge/log-cut.ts';
import type { ToHost } from '../bridge/messages.ts';
import type { ProcessRun } from './process-run.ts';

/**
 * Passes on a log line of a run. The first line over the limit becomes a notice that the rest is
 * dropped, for lines of the isolate and of this process. Returns the run's output limit if it is
 * exceeded. Throws FrameError for a line longer than the cut.
 */
export function passLogLine(
  send: (message: ToHost) => void,
  run: ProcessRun,
  line: LogLine,
): ExceededLimit | undefined {
  const { budget, conduct, guestLimits } = run;
  const { maxLogLinesPerRun: value } = guestLimits.limits;
  if (budget.logLines > value) return undefined;
  const passed = budget.logLines === value ? lastLine(line.atMs, value) : line;
  const bytes = Buffer.byteLength(passed.message);
  conduct.log(bytes, passed.limit);
  const exceeded = budget.takeLogLine(bytes);
  if (exceeded === undefined) send({ kind: 'log', run: run.run, line: passed });
  return exceeded;
}

/** A line about a run that this process writes itself, cut as those of the isolate are. */
export function ownLine(run: ProcessRun, text: string, level: 'warn' | 'error' = 'error'): LogLine {
  const { maxLogLineBytes: value } = run.guestLimits.limits;
  const used = Buffer.byteLength(text);
  const line = { level, atMs: Date.now() } as const;
  if (used <= value) return { ...line, message: text };
  const kept = new TextEncoder().encodeInto(text, new Uint8Array(value - CUT_MARK_BYTES)).read;
  return { ...line, message: text.slice(0, kept) + LOG_CUT_MARK, limit: { name: 'maxLogLineBytes', value, used } };
}

function lastLine(atMs: number, value: number): LogLine {
  const message = `Further log lines are dropped; the limit maxLogLinesPerRun is ${value}`;
  return { level: 'warn', atMs, message, limit: { name: 'maxLogLinesPerRun', value, used: value + 1 } };
}
