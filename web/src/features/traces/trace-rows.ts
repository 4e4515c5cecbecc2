import type { Schemas } from '../../api/client.ts';

export type TraceRun = Schemas['TraceRun'];
type TraceEvent = TraceRun['events'][number];
type TraceListener = TraceEvent['listeners'][number];

export interface Span {
  fromMs: number;
  toMs: number;
  tone: 'run' | 'good' | 'bad' | 'wait';
}

/** One line of the picture: a run, a step, an event, a listener, an attempt or a send. */
export interface TraceRow {
  /** Unique in the trace; stands in the URL when the row is open. */
  key: string;
  depth: number;
  kind: 'run' | 'execution' | 'step' | 'event' | 'delivery' | 'missed' | 'deduped' | 'send';
  label: string;
  /** A word of the API: `ok`, `failed`, `missed`. Absent for events. */
  status?: string;
  /** Bars on the time axis; an event is a point. */
  spans: Span[];
  atMs?: number;
  /** Content of the panel beside the row. */
  detail: unknown;
  error?: { code: string; message: string; stack: string | null } | null;
  logs?: TraceRun['logs'];
  links?: {
    to: `/${'sources' | 'webhooks' | 'workflows' | 'executions' | 'deliveries'}/$id`;
    id: string;
    label: string;
  }[];
}

/** The trace as lines, in the order in which things followed from each other. */
export function traceRows(runs: readonly TraceRun[]): TraceRow[] {
  return runs.flatMap((run) => runRows(run, 0));
}

function runRows(run: TraceRun, depth: number): TraceRow[] {
  const began = run.started_at ?? run.invoked_at;
  const ended = run.ended_at ?? began;
  const isBad = run.error !== null;
  const isExecution = run.emitter_id.startsWith('p_');
  const label = run.emitter_name ?? run.emitter_id;
  const spans: Span[] = [];
  if (run.invoked_at !== null && began !== null && began > run.invoked_at) {
    spans.push({ fromMs: run.invoked_at, toMs: began, tone: 'wait' });
  }
  if (began !== null && ended !== null) spans.push({ fromMs: began, toMs: ended, tone: isBad ? 'bad' : 'run' });
  const { events: _, steps: __, ...detail } = run;
  const own: TraceRow = {
    key: run.id,
    depth,
    kind: isExecution ? 'execution' : 'run',
    label,
    status: run.status,
    spans,
    detail,
    error: run.error,
    logs: run.logs,
    links: [
      ...(isExecution ? [{ to: '/executions/$id' as const, id: run.id, label: 'the execution' }] : []),
      linkOf(run.emitter_id, label),
    ],
  };
  return [
    own,
    ...run.steps.map((step) => stepRow(run, step, depth + 1)),
    ...run.events.flatMap((event) => eventRows(event, depth + 1)),
    ...dedupedRow(run, depth + 1),
    ...run.sends.map((send) => sendRow(send, depth + 1)),
  ];
}

function stepRow(run: TraceRun, step: TraceRun['steps'][number], depth: number): TraceRow {
  return {
    key: `${run.id}.${step.namespace}`,
    depth,
    kind: 'step',
    label: step.namespace,
    status: step.status,
    spans: [{ fromMs: step.started_at, toMs: step.ended_at, tone: step.error === null ? 'run' : 'bad' }],
    detail: step,
    error: step.error,
    logs: step.logs,
  };
}

function eventRows(event: TraceEvent, depth: number): TraceRow[] {
  const { listeners, ...detail } = event;
  const label = event.summary ?? (event.name === '' ? 'event' : event.name);
  const own: TraceRow = {
    key: event.emit_id,
    depth,
    kind: 'event',
    label,
    spans: [],
    atMs: event.indexed_at_ms,
    detail,
  };
  return [own, ...listeners.flatMap((listener) => listenerRows(event, listener, depth + 1))];
}

function listenerRows(event: TraceEvent, listener: TraceListener, depth: number): TraceRow[] {
  const { listener_id: id, listener_name: name, outcome, delivery, run, reason, clause } = listener;
  if (outcome === 'run' && run !== undefined) return runRows(run as TraceRun, depth);
  const base = { depth, label: name ?? id, links: [linkOf(id, name ?? id)], detail: listener };
  const key = `${event.emit_id}.${id}`;
  if (outcome === 'missed' || delivery === undefined) {
    return [
      {
        ...base,
        key,
        kind: 'missed',
        status: 'missed',
        label: `${base.label}: ${REASONS[reason ?? ''] ?? reason}${typeof clause === 'string' ? `: ${clause}` : ''}`,
        spans: [],
        atMs: event.indexed_at_ms,
      },
    ];
  }
  const spans = delivery.attempts.map(({ at, duration_ms: ms, status_code: code }): Span => {
    const fromMs = Date.parse(at);
    return { fromMs, toMs: fromMs + ms, tone: code !== undefined && code >= 200 && code < 300 ? 'good' : 'bad' };
  });
  const own = { to: '/deliveries/$id' as const, id: delivery.id, label: 'the delivery' };
  const links = [own, ...base.links];
  return [{ ...base, links, key, kind: 'delivery', status: delivery.status, spans, atMs: event.indexed_at_ms }];
}

/** Why an event did not reach a listener, in the words of docs/traces.md. */
const REASONS: Record<string, string> = {
  paused: 'was stopped when the event was stored',
  no_such_channel: 'is not subscribed to this channel',
  too_many_hops: 'the chain had as many events as maxEventHops allows',
  hold_full: 'was stopped, and as much was held as maxPausedDeliveries allows',
  backlog_full: 'as much waited as the account’s limits allow',
  filtered: 'its filter did not match',
  filter_too_costly: 'its filter takes more steps than it may',
};

function dedupedRow(run: TraceRun, depth: number): TraceRow[] {
  if (run.deduped === null || run.deduped.count === 0) return [];
  const { count, ids } = run.deduped;
  const label = `${count} not emitted again: ${ids.slice(0, 5).join(', ')}${ids.length > 5 ? '…' : ''} known already`;
  return [
    { key: `${run.id}.deduped`, depth, kind: 'deduped', status: 'missed', label, spans: [], detail: run.deduped },
  ];
}

function sendRow(send: TraceRun['sends'][number], depth: number): TraceRow {
  const spans = send.attempts.map(({ at, duration_ms: ms, error }): Span => {
    const fromMs = Date.parse(at);
    return { fromMs, toMs: fromMs + ms, tone: error === undefined ? 'good' : 'bad' };
  });
  return { key: send.id, depth, kind: 'send', label: `$.send.${send.kind}`, status: send.status, spans, detail: send };
}

function linkOf(id: string, label: string): NonNullable<TraceRow['links']>[number] {
  if (id.startsWith('wh_')) return { to: '/webhooks/$id', id, label };
  return { to: id.startsWith('p_') ? '/workflows/$id' : '/sources/$id', id, label };
}

/** From the first to the last moment of all rows. */
export function timeRange(rows: readonly TraceRow[]): { fromMs: number; toMs: number } {
  const moments = rows.flatMap(({ spans, atMs }) => [
    ...spans.flatMap(({ fromMs, toMs }) => [fromMs, toMs]),
    ...(atMs === undefined ? [] : [atMs]),
  ]);
  if (moments.length === 0) return { fromMs: 0, toMs: 1 };
  const fromMs = moments.reduce((least, one) => Math.min(least, one));
  return {
    fromMs,
    toMs: Math.max(
      fromMs + 1,
      moments.reduce((most, one) => Math.max(most, one)),
    ),
  };
}
