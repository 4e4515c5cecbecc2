import type { Redactor } from '../secrets/redactor.ts';

interface FailedRun {
  error: { code: string; message: string; ts: number; [detail: string]: unknown };
  /** JSON text of what started the run. */
  originalEvent: string;
  originalContext: { id: string; emitter_id: string; ts?: string; caused_by?: string; trace_id?: string };
}

/**
 * JSON text of what goes to the channel `$errors` about a run. The event that started it goes in as the text it is: parsed
 * and written again, one with enough levels of nesting would overflow the stack, and its run could never be recorded.
 * Without secrets, also in that event: its sender may have proven itself with one.
 */
export function errorEventJson(run: FailedRun, redactor: Redactor | undefined): string {
  const { error, originalEvent, originalContext } = run;
  const text = `{"error":${JSON.stringify(error)},"original_event":${originalEvent},"original_context":${JSON.stringify(originalContext)}}`;
  return redactor === undefined ? text : redactor.json(text);
}
