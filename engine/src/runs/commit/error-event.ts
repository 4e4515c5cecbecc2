import type { Redactor } from '../../secrets/redactor.ts';

export interface FailedRun {
  error: { code: string; message: string; ts: number; [detail: string]: unknown };
  /** JSON text of what started the run. */
  originalEvent: string;
  originalContext: { id: string; emitter_id: string; ts?: string; caused_by?: string; trace_id?: string };
}

/**
 * JSON text of what goes to the channel `$errors` about a run. The event that started it goes in as
 * the text it is: parsed and written again, one with enough levels of nesting would overflow the
 * stack, and its run could never be recorded. Without secrets, also in that event: its sender may
 * have proven itself with one. Whoever sends it says how large it is, and how much there is to
 * find: it is looked through in turns.
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
