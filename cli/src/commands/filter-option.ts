import { usageError } from '../cli-error.ts';
import type { CommandInput } from '../command-input.ts';
import type { OptionSpec } from '../command.ts';

export const FILTER: OptionSpec = {
  name: 'filter',
  value: 'json',
  summary: 'Only events whose data match: docs/filters.md.',
};

/** Undefined where none is given. */
export function filterOf(input: CommandInput): unknown {
  const text = input.text('filter');
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageError(`--filter is not JSON: ${(error as Error).message}`);
  }
}
