import type { TraceEvent, TraceListener, TraceRecord, TraceRun } from '@headwater/engine';
import { createGiveWay } from '@headwater/shared';
import type {
  Shown,
  traceEventSchema,
  traceListenerSchema,
  traceRunSchema,
  traceSchema,
} from '@headwater/shared/contract';
import { RawJson } from '../raw-json.ts';
import { presentError, presentLines } from './execution.ts';

/**
 * As JSON text that is made piece by piece: between them the thread is for others, whatever the
 * trace has of lines and errors.
 */
export async function presentTrace({ id, isCut, runs }: TraceRecord): Promise<Shown<typeof traceSchema>> {
  const out: Out = { pieces: [], giveWay: createGiveWay() };
  await writeList(runs, out, writeRun);
  const text = new RawJson(...out.pieces) as unknown as Shown<typeof traceRunSchema>[];
  return { id, truncated: isCut, runs: text };
}

interface Out {
  pieces: string[];
  giveWay: () => Promise<void>;
}

async function writeList<T>(items: readonly T[], out: Out, write: (item: T, out: Out) => Promise<void> | void) {
  for (const [index, item] of items.entries()) {
    out.pieces.push(index === 0 ? '[' : ',');
    await write(item, out);
    await out.giveWay();
  }
  out.pieces.push(items.length === 0 ? '[]' : ']');
}

/** An object with a last member that is written by itself. */
async function writeWith(record: object, name: string, out: Out, writeMember: () => Promise<void>): Promise<void> {
  out.pieces.push(`${JSON.stringify(record).slice(0, -1)},"${name}":`);
  await writeMember();
  out.pieces.push('}');
}

/** Goes as deep as a chain of events is long, which maxEventHops bounds. */
function writeRun(run: TraceRun, out: Out): Promise<void> {
  return writeWith(presentRun(run), 'events', out, () => writeList(run.events, out, writeEvent));
}

function writeEvent(event: TraceEvent, out: Out): Promise<void> {
  return writeWith(presentEvent(event), 'listeners', out, () => writeList(event.listeners, out, writeListener));
}

function writeListener(listener: TraceListener, out: Out): Promise<void> | void {
  const record = presentListener(listener);
  if (listener.outcome === 'run') return writeWith(record, 'run', out, () => writeRun(listener.run, out));
  out.pieces.push(JSON.stringify(record));
}

function presentRun(run: TraceRun): Omit<Shown<typeof traceRunSchema>, 'events'> {
  const { invokedAtMs: invoked, startedAtMs: started, endedAtMs: ended } = run;
  return {
    type: run.type,
    id: run.id,
    emitter_id: run.emitterId,
    emitter_name: run.emitterName ?? null,
    kind: run.kind ?? null,
    caused_by: run.causedBy ?? null,
    status: run.status,
    explanation: run.explanation,
    node_id: run.nodeId ?? null,
    emitter_stopped: run.isStopped === true,
    waits: run.wait === undefined ? null : { kind: run.wait.kind, until: run.wait.until.getTime() },
    reason: run.reason ?? null,
    invoked_at: whole(invoked),
    started_at: whole(started),
    ended_at: whole(ended),
    queued_ms: between(invoked, started),
    ran_ms: between(started, ended),
    error: presentError(run.error),
    logs: presentLines(run.logs),
    steps: run.steps.map((step) => ({
      namespace: step.namespace,
      status: step.status,
      runs: step.runs,
      started_at: Math.round(step.startedAtMs),
      ended_at: Math.round(step.endedAtMs),
      error: presentError(step.error),
      summary: step.summary ?? null,
      props: step.props === undefined ? null : (JSON.parse(step.props) as unknown),
      logs: presentLines(step.logs),
    })),
    deduped: presentDeduped(run.deduped),
    sends: run.sends,
  };
}

function presentDeduped(deduped: TraceRun['deduped']): Shown<typeof traceRunSchema>['deduped'] {
  if (deduped === undefined) return null;
  return { count: deduped.count, ids: deduped.emitIds, strategy: deduped.strategy ?? null };
}

function presentEvent(event: TraceEvent): Omit<Shown<typeof traceEventSchema>, 'listeners'> {
  return {
    id: event.id,
    emit_id: `${event.emitterId}-${event.id}`,
    name: event.channel,
    summary: event.summary ?? null,
    component_id: event.emitId ?? null,
    indexed_at_ms: event.indexedAtMs,
    bytes: event.bytes,
  };
}

/** Without its run. */
function presentListener(listener: TraceListener): Shown<typeof traceListenerSchema> {
  const { listenerId, listenerName = null, outcome } = listener;
  const base = { listener_id: listenerId, listener_name: listenerName, outcome };
  switch (outcome) {
    case 'delivery': {
      const { id, status, attempts, nextAttemptAtMs } = listener.delivery;
      return { ...base, delivery: { id, status, attempts, next_attempt_at: whole(nextAttemptAtMs) } };
    }
    case 'run':
      return base;
    case 'missed':
      return {
        ...base,
        reason: listener.reason,
        ...(listener.reason === 'filtered' ? { clause: listener.clause ?? null } : {}),
      };
  }
}

/** Clocks of nodes differ: nothing takes less than no time. */
function between(fromMs: number | undefined, toMs: number | undefined): number | null {
  return fromMs === undefined || toMs === undefined ? null : Math.max(0, Math.round(toMs - fromMs));
}

const whole = (ms: number | undefined): number | null => (ms === undefined ? null : Math.round(ms));
