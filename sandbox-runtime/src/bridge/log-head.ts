import type { LogLevel, LogLimitName, LogLine } from '@headwater/shared';

/**
 * Prefix of a log line's text from the isolate: `level:epoch-ms`, level 0–3. If a limit affects the
 * line, `:name:value:used` follows. Whole numbers of at most 15 digits.
 */
export type LogHead = Omit<LogLine, 'message'>;

const NUMBERS: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };
const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];
const HEAD = /^([0-3]):(\d{1,15})(?::(maxLogLinesPerRun|maxLogLineBytes):(\d{1,15}):(\d{1,15}))?$/;

/**
 * Runs in isolates too: it takes no object that may lack a member, or Object.prototype would be
 * asked for that.
 */
export function writeLogHead(level: LogLevel, atMs: number, limit: LogLine['limit'] | undefined): string {
  const head = `${NUMBERS[level]}:${atMs}`;
  return limit === undefined ? head : `${head}:${limit.name}:${limit.value}:${limit.used}`;
}

/** Undefined for text that `writeLogHead` would not have written. */
export function readLogHead(head: string): LogHead | undefined {
  const match = HEAD.exec(head);
  const level = LEVELS[Number(match?.[1])];
  if (match === null || level === undefined) return undefined;
  const read = { atMs: Number(match[2]), level };
  const name = match[3] as LogLimitName | undefined;
  return name === undefined ? read : { ...read, limit: { name, value: Number(match[4]), used: Number(match[5]) } };
}
