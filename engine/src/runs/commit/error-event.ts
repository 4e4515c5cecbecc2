import type { Redactor } from '../../secrets/index.ts';

export interface FailedRun {
  error: { code: string; message: string; ts: number; [detail: string]: unknown };
  /** JSON text of the event that started the run. */
  originalEvent: string;
  originalContext: { id: string; emitter_id: string; ts?: string; caused_by?: string; trace_id?: string };
}

/**
 * JSON text of the event on the channel `$errors` about a run. It contains the text of the original
 * event unchanged: parsing and writing deeply nested JSON would overflow the stack, and its run
 * could never be recorded. Secrets are removed, also from the original event: its sender may have
 * authenticated with one. The sender controls its size and the number of secrets in it, so the
 * search yields to other work.
 */
export async function errorEventJson(run: FailedRun, redactor: Redactor | undefined): Promise<string> {
  const text = withSecrets(run);
  return redactor === undefined ? text : await redactor.jsonInTurns(text);
}

/** The same in one piece, for a run that its commit finds to be over a limit. */
export function errorEventJsonAtOnce(run: FailedRun, redactor: Redactor | undefined): string {
  const text = withSecrets(run);
  return redactor === undefined ? text : redactor.json(text);
}

function withSecrets({ error, originalEvent, originalContext }: FailedRun): string {
  return `{"error":${JSON.stringify(error)},"original_event":${originalEvent},"original_context":${JSON.stringify(originalContext)}}`;
}
