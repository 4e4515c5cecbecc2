import { safeLine } from '../terminal/safe-text.ts';
import type { Style } from '../terminal/style.ts';

/** Which limit cut a log line, or dropped those behind it. */
export interface LogLimit {
  name: string;
  value: number;
  used: number;
}

/** ` [maxLogLineBytes: 40000 of 16384]` behind a line that one has to do with; else nothing. */
export function limitText(limit: LogLimit | undefined, style: Style): string {
  if (limit === undefined) return '';
  return ` ${style.yellow(safeLine(`[${limit.name}: ${limit.used} of ${limit.value}]`))}`;
}
