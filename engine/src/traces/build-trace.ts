import { idTimeMs, type LogLine } from '@headwater/shared';
import type { MissReason, TraceEvent, TraceListener, TraceRun, TraceStep } from '../contract-traces.ts';
import type { ExecutionError, ExecutionRecord } from '../contract-workflows.ts';
import { emitIdOf, formatEventId } from '../events/event-id.ts';
import { isWorkflow } from '../run/invocation.ts';
import { readLines } from '../run/stored-lines.ts';
import type {
  TraceDeliveryRow,
  TraceEventRow,
  TraceMissedRow,
  TraceRunRow,
  TraceSendRow,
  TraceStepRow,
  TraceSubscriptionRow,
} from '../store/read-trace.ts';

/** What is known of a trace. */
export interface TraceParts {
  events: readonly TraceEventRow[];
  runs: readonly TraceRunRow[];
  executions: readonly ExecutionRecord[];
  steps: readonly TraceStepRow[];
  deliveries: readonly TraceDeliveryRow[];
  missed: readonly TraceMissedRow[];
  subscriptions: readonly TraceSubscriptionRow[];
  sends: readonly TraceSendRow[];
  names: ReadonlyMap<string, string>;
}

/** Puts rows together into a tree; answers what nothing else in it has started. Pure. */
export function buildTrace(parts: TraceParts): TraceRun[] {
  const runs = collectRuns(parts);
  const started = Map.groupBy(runs.values(), (run) => run.causedBy);
  const shown = new Set<TraceRun>();
  for (const row of parts.events) {
    const emitId = emitIdOfRow(row);
    const children = started.get(emitId) ?? [];
    for (const child of children) shown.add(child);
    runs.get(row.invocation_id ?? '')?.events.push(eventOf(row, children, parts));
  }
  return [...runs.values()].filter((run) => !shown.has(run));
}

const emitIdOfRow = (row: TraceEventRow) => emitIdOf(row.emitter_id, { ms: row.indexed_at_ms, seq: row.seq });

function collectRuns(parts: TraceParts): Map<string, TraceRun> {
  const steps = Map.groupBy(parts.steps, (step) => step.execution_id);
  const sends = Map.groupBy(parts.sends, (send) => send.execution_id);
  const deduped = new Map(
    parts.missed.filter(({ reason }) => reason === 'deduped').map((row) => [row.invocation_id, row]),
  );
  const all = [
    ...parts.runs.map(runOf),
    ...parts.executions.map((execution) => executionOf(execution, steps.get(execution.id) ?? [])),
  ];
  const runs = new Map(all.map((run) => [run.id, run]));
  for (const [id, events] of Map.groupBy(parts.events, (event) => event.invocation_id)) {
    const [first] = events;
    if (id !== null && first !== undefined && !runs.has(id)) runs.set(id, quietRunOf(id, first, events));
  }
  for (const { invocation_id: id, emitter_id: emitterId } of deduped.values()) {
    if (id !== null && !runs.has(id)) runs.set(id, bareRun(id, emitterId, 'ok'));
  }
  for (const run of runs.values()) {
    const name = parts.names.get(run.emitterId);
    if (name !== undefined) run.emitterName = name;
    const known = deduped.get(run.id);
    if (known !== undefined) run.deduped = { count: known.missed, emitIds: JSON.parse(known.emit_ids) as string[] };
    run.sends = (sends.get(run.id) ?? []).map(({ id, kind, status, attempts }) => ({ id, kind, status, attempts }));
  }
  return new Map([...runs].sort(([a], [b]) => (idTimeMs(a) ?? 0) - (idTimeMs(b) ?? 0)));
}

function runOf(row: TraceRunRow): TraceRun {
  return {
    ...bareRun(row.id, row.source_id, row.status),
    kind: row.kind,
    ...(row.caused_by === null ? {} : { causedBy: row.caused_by }),
    ...(row.started_ms === null ? {} : { startedAtMs: row.started_ms }),
    ...(row.ended_ms === null ? {} : { endedAtMs: row.ended_ms }),
    ...(row.error_code === null
      ? {}
      : {
          error: {
            code: row.error_code,
            message: row.error_message ?? '',
            ...(row.error_stack === null ? {} : { stack: row.error_stack }),
            ...(row.error_limit === null ? {} : { limit: row.error_limit }),
          },
        }),
    logs: linesOf(row.logs),
  };
}

/** A run that neither logged nor failed, and that no event started, is known by what it emitted. */
function quietRunOf(id: string, first: TraceEventRow, events: readonly TraceEventRow[]): TraceRun {
  const invokedAtMs = idTimeMs(id);
  const startedAtMs = invokedAtMs === undefined ? undefined : invokedAtMs + (first.queued_ms ?? 0);
  const ranMs = Math.max(...events.map((event) => event.ran_ms ?? 0));
  return {
    ...bareRun(id, first.emitter_id, 'ok'),
    ...(first.caused_by === null ? {} : { causedBy: first.caused_by }),
    ...(startedAtMs === undefined || first.ran_ms === null ? {} : { startedAtMs, endedAtMs: startedAtMs + ranMs }),
  };
}

function executionOf(execution: ExecutionRecord, steps: readonly TraceStepRow[]): TraceRun {
  const startedAtMs = execution.startedAt?.getTime() ?? steps[0]?.started_ms;
  return {
    ...bareRun(execution.id, execution.workflowId, execution.status),
    kind: execution.kind,
    ...(execution.causedBy === undefined ? {} : { causedBy: execution.causedBy }),
    ...(startedAtMs === undefined ? {} : { startedAtMs }),
    ...(execution.endedAt === undefined ? {} : { endedAtMs: execution.endedAt.getTime() }),
    ...(execution.error === undefined ? {} : { error: execution.error }),
    steps: steps.map(stepOf),
  };
}

function bareRun(id: string, emitterId: string, status: TraceRun['status']): TraceRun {
  const invokedAtMs = idTimeMs(id);
  return {
    type: isWorkflow(emitterId) ? 'execution' : 'run',
    id,
    emitterId,
    status,
    ...(invokedAtMs === undefined ? {} : { invokedAtMs }),
    logs: [],
    steps: [],
    events: [],
    sends: [],
  };
}

function stepOf(row: TraceStepRow): TraceStep {
  return {
    namespace: row.namespace,
    status: row.status,
    runs: row.runs,
    startedAtMs: row.started_ms,
    endedAtMs: row.ended_ms,
    ...(row.error === null ? {} : { error: JSON.parse(row.error) as ExecutionError }),
    logs: linesOf(row.logs),
  };
}

function linesOf(logs: string | null): LogLine[] {
  return logs === null ? [] : readLines(logs);
}

function eventOf(row: TraceEventRow, started: readonly TraceRun[], parts: TraceParts): TraceEvent {
  return {
    id: formatEventId({ ms: row.indexed_at_ms, seq: row.seq }),
    emitterId: row.emitter_id,
    channel: row.channel,
    ...(row.emit_id === null ? {} : { emitId: row.emit_id }),
    ...(row.summary === null ? {} : { summary: row.summary }),
    indexedAtMs: row.indexed_at_ms,
    bytes: row.bytes,
    listeners: listenersOf(row, started, parts),
  };
}

function listenersOf(row: TraceEventRow, started: readonly TraceRun[], parts: TraceParts): TraceListener[] {
  const deliveries = parts.deliveries.filter(
    (one) => one.emitter_id === row.emitter_id && one.indexed_at_ms === row.indexed_at_ms && one.seq === row.seq,
  );
  const listeners: TraceListener[] = [
    ...deliveries.map((one) => ({
      listenerId: one.webhook_id,
      outcome: 'delivery' as const,
      delivery: deliveryOf(one),
    })),
    ...started.map((run) => ({ listenerId: run.emitterId, outcome: 'run' as const, run })),
  ];
  const missed = new Map<string, MissReason>();
  for (const one of parts.missed) {
    if (one.listener_id !== null && isMissed(row, one)) missed.set(one.listener_id, one.reason as MissReason);
  }
  const known = new Set([...listeners.map(({ listenerId }) => listenerId), ...missed.keys()]);
  for (const id of onOtherChannels(row, parts.subscriptions)) if (!known.has(id)) missed.set(id, 'no_such_channel');
  const others = [...missed].map(([listenerId, reason]) => ({ listenerId, outcome: 'missed' as const, reason }));
  return [...listeners, ...others].map((listener) => {
    const listenerName = parts.names.get(listener.listenerId);
    return listenerName === undefined ? listener : { ...listener, listenerName };
  });
}

function deliveryOf({ id, status, attempts, next_attempt_ms: nextAttemptAtMs }: TraceDeliveryRow) {
  return { id, status, attempts, ...(status === 'pending' ? { nextAttemptAtMs } : {}) };
}

/** Notes of such reasons are of one run each, the others of everything that an emitter got in one commit. */
const OF_ONE_RUN: ReadonlySet<string> = new Set(['too_many_hops', 'backlog_full']);

function isMissed(row: TraceEventRow, missed: TraceMissedRow): boolean {
  if (missed.channel !== row.channel || missed.emitter_id !== row.emitter_id) return false;
  if (OF_ONE_RUN.has(missed.reason)) return missed.invocation_id === row.invocation_id;
  const { reason, ms, from_seq: from, to_seq: to } = missed;
  return (
    reason === 'paused' && ms === row.indexed_at_ms && from !== null && to !== null && from <= row.seq && row.seq <= to
  );
}

/** Who listened to the emitter then, but to none of its events of this channel. Nobody is told that of built-in channels. */
function onOtherChannels(row: TraceEventRow, subscriptions: readonly TraceSubscriptionRow[]): string[] {
  if (row.channel.startsWith('$')) return [];
  const glob = isWorkflow(row.emitter_id) ? 'p_*' : 'dc_*';
  const ofEmitter = subscriptions.filter(
    (one) =>
      (one.emitter_id === row.emitter_id || (one.emitter_id === glob && one.listener_id !== row.emitter_id)) &&
      !one.event_name.startsWith('$'),
  );
  const hearing = new Set(ofEmitter.filter((one) => one.event_name === row.channel).map((one) => one.listener_id));
  const others = ofEmitter.filter((one) => !hearing.has(one.listener_id) && one.created_ms <= row.indexed_at_ms);
  return [...new Set(others.map((one) => one.listener_id))];
}
