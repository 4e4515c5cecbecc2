import { HeadwaterProblem } from '@headwater/client';

/** Thrown when no answer came: the server is restarting, or the network is gone. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';

  /** The request may have changed something before its answer was lost. */
  readonly wasChange: boolean;

  constructor(cause: unknown, wasChange = false) {
    super('The server cannot be reached: it may be restarting, or the network is gone.', { cause });
    this.wasChange = wasChange;
  }
}

/**
 * The messages for one field of a form, by the end of their path (`configured_props.url` is a
 * message for `url`).
 */
export function messagesFor(error: unknown, field: string): string[] {
  if (!(error instanceof HeadwaterProblem)) return [];
  const errors = error.problem.errors ?? [];
  return errors.filter(({ path }) => path === field || path.endsWith(`.${field}`)).map(({ message }) => message);
}

/**
 * Messages for a field and its members: `headers.x-team` is one for `headers`, and names the
 * member.
 */
export function messagesBelow(error: unknown, field: string): string[] {
  if (!(error instanceof HeadwaterProblem)) return [];
  const errors = (error.problem.errors ?? []).filter(({ path }) => path === field || path.startsWith(`${field}.`));
  return errors.map(({ path, message }) => [path.slice(field.length + 1), message].join(' ').trim());
}

export function problemText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
