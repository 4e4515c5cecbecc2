import { createGiveWay, idTimeMs, LIMITS, type LogLine } from '@headwater/shared';
import type {
  ExecutionError,
  ExecutionRecord,
  TraceEvent,
  TraceListener,
  TraceRun,
  TraceStep,
} from '../../contract/index.ts';
import { formatEventId, isWorkflow, readStoredLines } from '../../events/index.ts';
import type { TraceEventRow, TraceHolderRow, TraceMissedRow, TraceSendRow, TraceStepRow } from './read-trace.sql.ts';
import type { TraceRunRow } from './read-trace-runs.sql.ts';
import { explainRun } from './explain-run.ts';
import { emitIdOfRow, findListeners, type ListenerParts } from './trace-listeners.ts';

/** Rows of one trace. */
export interface TraceParts extends ListenerParts {
  runs: readonly TraceRunRow[];
  executions: readonly ExecutionRecord[];
  steps: readonly TraceStepRow[];
  sends: readonly TraceSendRow[];
  holders: readonly TraceHolderRow[];
}

/**
 * Puts rows together into a tree; answers what nothing else in it has started. Of thousands of rows
 * with lines and errors: between them the thread is for others.
 */
export async function buildTrace(parts: TraceParts): Promise<{ runs: TraceRun[]; isCut: boolean }> {
  const giveWay = createGiveWay();
  const runs = await collectRuns(parts, giveWay);
  const started = Map.groupBy(runs.values(), (run) => run.causedBy);
  const { byEvent, isCut } = await findListeners(parts, started, giveWay);
  const shown = new Set<TraceRun>();
  for (const row of parts.events) {
    const emitId = emitIdOfRow(row);
    for (const child of started.get(emitId) ?? []) shown.add(child);
    runs.get(row.invocation_id ?? '')?.events.push(eventOf(row, byEvent.get(emitId) ?? []));
  }
  for (const run of runs.values()) run.explanation = explainRun(run);
  return { runs: [...runs.values()].filter((run) => !shown.has(run)), isCut };
}

async function collectRuns(parts: TraceParts, giveWay: () => Promise<void>): Promise<Map<string, TraceRun>> {
  const steps = Map.groupBy(parts.steps, (step) => step.execution_id);
  const sends = Map.groupBy(parts.sends, (send) => send.execution_id);
  const deduped = Map.groupBy(
    parts.missed.filter(({ reason }) => reason === 'deduped'),
    (row) => row.invocation_id,
  );
  const holders = new Map(parts.holders.map((row) => [row.id, row]));
  const runs = new Map<string, TraceRun>();
  for (const row of parts.runs) {
    runs.set(row.id, runOf(row));
    await giveWay();
  }
  for (const execution of parts.executions) {
    runs.set(execution.id, executionOf(execution, steps.get(execution.id) ?? []));
    await giveWay();
  }
  for (const [id, events] of Map.groupBy(parts.events, (event) => event.invocation_id)) {
    const [first] = events;
    if (id !== null && first !== undefined && !runs.has(id)) runs.set(id, quietRunOf(id, first, events));
  }
  for (const [id, [first]] of deduped) {
    if (id !== null && first !== undefined && !runs.has(id)) runs.set(id, bareRun(id, first.emitter_id, 'ok'));
  }
  for (const run of runs.values()) {
    const name = parts.names.get(run.emitterId);
    if (name !== undefined) run.emitterName = name;
    const known = deduped.get(run.id);
    if (known !== undefined) run.deduped = dedupedOf(known);
    const holder = holders.get(run.id);
    if (holder !== undefined) addHolder(run, holder);
    run.sends = (sends.get(run.id) ?? []).map(sendOf);
  }
  return new Map([...runs].sort(([a], [b]) => (idTimeMs(a) ?? 0) - (idTimeMs(b) ?? 0)));
}

/** A long run has a note for each of its parts. */
function dedupedOf(notes: readonly TraceMissedRow[]): NonNullable<TraceRun['deduped']> {
  const strategy = notes[0]?.dedupe ?? undefined;
  return {
    count: notes.reduce((sum, { missed }) => sum + missed, 0),
    emitIds: notes.flatMap((note) => JSON.parse(note.emit_ids) as string[]).slice(0, LIMITS.maxMissedIds),
    ...(strategy === undefined ? {} : { strategy }),
  };
}

function addHolder(run: TraceRun, { node_id: nodeId, active }: TraceHolderRow): void {
  if (run.status === 'running' && nodeId !== null) run.nodeId = nodeId;
  if (run.status === 'queued' && !active) run.isStopped = true;
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

/** A run that neither logged nor failed has no row of its own: its events describe it. */
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
    ...(execution.wait === undefined ? {} : { wait: execution.wait }),
    ...(execution.reason === undefined ? {} : { reason: execution.reason }),
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
    explanation: '',
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
    ...summaryOf(row),
    ...(row.props === null ? {} : { props: row.props }),
    logs: linesOf(row.logs),
  };
}

function summaryOf({ exports }: TraceStepRow): { summary?: string } {
  const { $summary: summary } = JSON.parse(exports ?? '{}') as { $summary?: unknown };
  return typeof summary === 'string' ? { summary: summary.slice(0, LIMITS.maxSummaryChars) } : {};
}

function sendOf({ id, kind, status, attempts }: TraceSendRow): TraceRun['sends'][number] {
  return { id, kind, status, attempts: attempts.slice(-LIMITS.maxTraceAttempts) };
}

function linesOf(logs: string | null): LogLine[] {
  return logs === null ? [] : readStoredLines(logs);
}

function eventOf(row: TraceEventRow, listeners: TraceListener[]): TraceEvent {
  return {
    id: formatEventId({ ms: row.indexed_at_ms, seq: row.seq }),
    emitterId: row.emitter_id,
    channel: row.channel,
    ...(row.emit_id === null ? {} : { emitId: row.emit_id }),
    ...(row.summary === null ? {} : { summary: row.summary }),
    indexedAtMs: row.indexed_at_ms,
    bytes: row.bytes,
    listeners,
  };
}
