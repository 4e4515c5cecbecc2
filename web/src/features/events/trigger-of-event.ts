import { api } from '../../api/client.ts';
import { writeExact } from '../../api/exact-json.ts';
import { HeadwaterProblem } from '@headwater/client';
import type { TraceRun } from '../traces/trace-rows.ts';
import type { LiveEvent } from './use-live-events.ts';

export interface Trigger {
  /** JSON text for a run of the source. */
  text: string;
  /** How near it is to what started the run. */
  explanation: string;
}

/**
 * The trigger of the run that emitted the event, as far as it is kept: the event of another source,
 * or a tick. A request is not kept; the data of the event stands for its body.
 */
export async function triggerOfEvent(event: LiveEvent, data: unknown): Promise<Trigger> {
  const run = await runOf(event.metadata.emit_id);
  const cause = run?.caused_by ?? null;
  if (cause !== null) {
    const query = { id: cause, expand: 'event', limit: 1 };
    const { data: found } = await api.get('/v1/events', { query });
    if (found[0] !== undefined) {
      return {
        text: writeExact(found[0].event),
        explanation: 'The event of another source that started the run, as it was.',
      };
    }
  }
  if (run?.kind === 'timer') {
    const timestamp = Math.floor((run.invoked_at ?? event.indexed_at_ms) / 1_000);
    return { text: JSON.stringify({ timestamp }, null, 2), explanation: 'The tick that started the run.' };
  }
  if (run?.kind === 'http') {
    const request = { method: 'POST', path: '/', query: {}, headers: { 'content-type': 'application/json' } };
    return {
      text: writeExact({ ...request, body: data }),
      explanation: 'The request is not kept: its body is the data of the event. Make it what the source expects.',
    };
  }
  return {
    text: writeExact(data),
    explanation: 'What started the run is not kept: this is the data of the event. Make it what the source expects.',
  };
}

/** Undefined where the trace is not kept any more, or the event was published without a run. */
async function runOf(emitId: string): Promise<TraceRun | undefined> {
  const trace = await api.get('/v1/traces/{id}', { path: { id: emitId } }).catch((error: unknown) => {
    if (error instanceof HeadwaterProblem && error.status === 404) return undefined;
    throw error;
  });
  return trace && findRun(trace.data.runs, emitId);
}

function findRun(runs: readonly TraceRun[], emitId: string): TraceRun | undefined {
  for (const run of runs) {
    if (run.events.some((event) => event.emit_id === emitId)) return run;
    const later = run.events.flatMap(({ listeners }) => listeners.flatMap((one) => (one.run as TraceRun) ?? []));
    const found = findRun(later, emitId);
    if (found !== undefined) return found;
  }
  return undefined;
}
