import { usageError } from './cli-error.ts';
import type { CommandContext } from './context.ts';

/** Epoch milliseconds of an option that names a time. */
export function momentOf(input: CommandContext['input'], name: 'since' | 'until' | 'expires'): number | undefined {
  const text = input.text(name);
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw usageError(`--${name} ${text} is not a time`, 'Write it as 2026-11-20T14:00Z');
  return ms;
}
