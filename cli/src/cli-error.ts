import type { ExitName } from './exit-codes.ts';

/** One thing that is wrong: a prop, a parameter, a line of a file. */
export interface ErrorField {
  path: string;
  message: string;
  file?: string;
  line?: number;
  column?: number;
}

interface Details {
  /** Next step for the user, in one line. */
  hint?: string;
  /** Stable, for scripts; the server's code where the server refused. */
  code?: string;
  fields?: readonly ErrorField[];
  requestId?: string;
  cause?: unknown;
}

/**
 * Every failure that a user is told about: `message` says what happened in one line. Anything else
 * is a defect.
 */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exit: ExitName;
  readonly hint: string | undefined;
  readonly code: string;
  readonly fields: readonly ErrorField[];
  readonly requestId: string | undefined;

  constructor(exit: ExitName, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.exit = exit;
    this.hint = details.hint;
    this.code = details.code ?? exit.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
    this.fields = details.fields ?? [];
    this.requestId = details.requestId;
  }
}

export function usageError(message: string, hint?: string): CliError {
  return new CliError('usage', message, hint === undefined ? {} : { hint });
}
