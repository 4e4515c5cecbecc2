import type { EventRecord } from '../api/resources.ts';
import { clockTime, localTime } from '../terminal/describe-time.ts';
import { safeJson, safeLine, safeText } from '../terminal/safe-text.ts';
import type { Style } from '../terminal/style.ts';
import { type LogLimit, limitText } from './log-limit.ts';

/** An event: two parts on a terminal; one line of columns with tabs between elsewhere. */
export function eventText(record: EventRecord, style: Style, aligned: boolean): string {
  const { id, indexed_at_ms: atMs, event, metadata } = record;
  const { name, summary } = metadata;
  if (!aligned) {
    const cells = [
      new Date(atMs).toISOString(),
      safeLine(id),
      safeLine(name),
      safeLine(summary ?? ''),
      eventJson(event),
    ];
    return cells.join('\t');
  }
  const channel = name === '' ? '' : ` ${style.cyan(`[${safeLine(name)}]`)}`;
  const head = `${style.dim(localTime(atMs))}  ${style.bold(safeLine(id))}${channel}${summary === null ? '' : `  ${safeLine(summary)}`}`;
  return `${head}\n${eventJson(event, 2)}`;
}

function eventJson(event: unknown, indent = 0): string {
  return safeJson(JSON.stringify(event, null, indent) ?? 'null');
}

interface LogEvent {
  level?: string;
  message?: string;
  /** Only for a workflow execution. */
  step?: string;
  /** Error code of a failed run. */
  code?: string;
  limit?: LogLimit;
}

/** Text of a log line, or of a run's error. */
export function logText({ indexed_at_ms: atMs, event }: EventRecord, style: Style): string {
  const { level = 'info', message = '', step, code, limit } = (event ?? {}) as LogEvent;
  // Some messages of the server begin with their code.
  const text = indentLines(
    safeText(code !== undefined && message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message),
  );
  const of = step === undefined ? '' : `${style.cyan(safeLine(step))} `;
  const what = code === undefined ? text : style.red(`${safeLine(code)} ${text}`);
  return `${style.dim(clockTime(atMs))} ${paintLevel(level, style)} ${of}${what}${limitText(limit, style)}`;
}

function paintLevel(level: string, style: Style): string {
  const text = safeLine(level).padEnd(5);
  if (level === 'error') return style.red(text);
  return level === 'warn' ? style.yellow(text) : style.dim(text);
}

function indentLines(text: string): string {
  return text.trimEnd().replaceAll('\n', '\n                   ');
}
