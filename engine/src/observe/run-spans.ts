import { ID_PREFIXES, idTimeMs } from '@headwater/shared';
import type {
  AnsweredRequest,
  ExecutionSpans,
  Span,
  SpanSink,
  TracedExecution,
  TracedStep,
  Tracing,
} from '../contract/index.ts';
import { formatEventId } from '../events/index.ts';
import type { AttemptResult, DueDelivery, DueSend } from '../outbox/index.ts';
import type { CommittedRun, EventRow, RunCommit } from '../runs/index.ts';
import { spanIdOf, spanOfAttempt, spanOfStep, type TraceContext, type TraceContexts } from '../tracing/index.ts';

/*
 * The tree of spans:
 *
 *   request ─► invocation ─► run ─► event ─► attempt
 *                             │       └────► invocation of a listener ─► run …
 *                             ├────► step
 *                             └────► attempt of a send
 *
 * Spans are made when their work is over, from the rows that it has left. Their ids follow from the
 * ids of these rows, so that a node can name the parent of a span whose parent another node has
 * made. A run that is repeated after a crash has one span: that of the run that was committed.
 */

/** Turns what the engine has done into spans. Nothing here waits or throws. */
export interface RunSpans extends Tracing, ExecutionSpans {
  /** Spans of a run, or of events that were published; of an execution its events alone. */
  runCommitted(run: RunCommit, committed: CommittedRun): void;
  attemptEnded(result: AttemptResult<DueDelivery>): void;
  sendAttempted(result: AttemptResult<DueSend>): void;
}

/** Looks at callers' traces that are under way: what comes beyond them is not recorded. */
const MAX_LOOKS = 1_000;

/** Lines of an upload to S3 that have a span: an object may have thousands. */
const MAX_LINES = 500;

type Untraced = Omit<Span, 'traceId' | 'traceState'>;

export function createRunSpans(sink: SpanSink, contexts: Pick<TraceContexts, 'of'>): RunSpans {
  let looks = 0;

  function addAll(context: TraceContext, make: (context: TraceContext) => Untraced[]): void {
    const { traceId, traceState } = context;
    if (!sink.samples(traceId, context.parentSampled)) return;
    for (const span of make(context))
      sink.add({ ...span, traceId, ...(traceState === undefined ? {} : { traceState }) });
  }

  function add(accountId: string, rootId: string, make: (context: TraceContext) => Untraced[]): void {
    const context = contexts.of(accountId, rootId);
    if (!(context instanceof Promise)) return addAll(context, make);
    if (looks >= MAX_LOOKS) return sink.drop(1);
    looks++;
    void context.then((found) => addAll(found, make)).finally(() => looks--);
  }

  return {
    requestAnswered(request) {
      add(request.accountId, request.runId, (context) => [requestSpan(request, context)]);
    },
    runCommitted(run, { committed, rows = [] }) {
      const beganAs = run.invocation?.id ?? run.publishedAs;
      // A hook has no trace.
      if (!committed || beganAs === undefined) return;
      add(run.accountId, run.invocation?.cause?.traceId ?? beganAs, () => [
        ...(run.final && run.execution === undefined ? spansOfRun(run, beganAs) : []),
        ...rows.map((row) => eventSpan(row, beganAs)),
      ]);
    },
    stepEnded({ key, start }, step) {
      add(key.accountId, start.traceId, () => [stepSpan(key, step)]);
    },
    executionEnded(execution, end) {
      add(execution.key.accountId, execution.start.traceId, () => spansOfExecution(execution, end));
    },
    attemptEnded(result) {
      const { accountId, traceId } = result.item;
      if (traceId !== undefined) add(accountId, traceId, () => [attemptSpan(result)]);
    },
    sendAttempted(result) {
      const { accountId, sentBy } = result.item;
      for (const by of sentBy.slice(0, MAX_LINES)) add(accountId, by.traceId, () => [sendSpan(result, by)]);
      if (sentBy.length > MAX_LINES) sink.drop(sentBy.length - MAX_LINES);
    },
  };
}

function parentOf(parentSpanId: string | undefined): Pick<Span, 'parentSpanId'> {
  return parentSpanId === undefined ? {} : { parentSpanId };
}

function requestSpan(request: AnsweredRequest, { parentSpanId }: TraceContext): Untraced {
  const { accountId, runId, method, route, status, startedAtMs } = request;
  return {
    spanId: spanIdOf('request', runId),
    ...parentOf(parentSpanId),
    name: `${method} ${route}`,
    kind: 'server',
    startedAtMs,
    endedAtMs: Date.now(),
    attributes: {
      'headwater.account.id': accountId,
      'headwater.run.id': runId,
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
    },
    ...(status >= 500 ? { error: `status ${status}` } : {}),
  };
}

interface Invoked {
  id: string;
  accountId: string;
  emitterId: string;
  kind: string;
  cause: { event: string } | undefined;
  startedAtMs: number;
  endedAtMs: number;
  error: string | undefined;
}

/** From its acceptance to its commit, and within it from the beginning of the code to its end. */
function spansOfInvocation(of: Invoked, run: { name: string; endedAtMs: number }): Untraced[] {
  const { id, accountId, emitterId, kind, cause, startedAtMs, endedAtMs } = of;
  const attributes = {
    'headwater.account.id': accountId,
    'headwater.emitter.id': emitterId,
    'headwater.run.id': id,
    'headwater.run.kind': kind,
  };
  const error = of.error === undefined ? {} : { error: of.error };
  const invocationSpanId = spanIdOf('invocation', id);
  return [
    {
      spanId: invocationSpanId,
      ...parentOf(parentOfInvocation(id, kind, cause)),
      name: 'invocation',
      kind: cause === undefined ? 'internal' : 'consumer',
      startedAtMs: Math.min(idTimeMs(id) ?? startedAtMs, startedAtMs),
      endedAtMs,
      attributes,
      ...error,
    },
    {
      spanId: spanIdOf('run', id),
      parentSpanId: invocationSpanId,
      name: run.name,
      kind: 'internal',
      startedAtMs,
      endedAtMs: run.endedAtMs,
      attributes,
      ...error,
    },
  ];
}

/** A timer has no parent: the trace begins with its tick. */
function parentOfInvocation(id: string, kind: Invoked['kind'], cause: Invoked['cause']): string | undefined {
  if (cause !== undefined) return spanIdOf('event', cause.event);
  return kind === 'timer' ? undefined : spanIdOf('request', id);
}

function spansOfRun(run: RunCommit, id: string): Untraced[] {
  const nowMs = Date.now();
  const { accountId, sourceId: emitterId, invocation, record, ran } = run;
  if (invocation === undefined) return [publishSpan(run, id, nowMs)];
  const invoked: Invoked = {
    id,
    accountId,
    emitterId,
    kind: invocation.kind ?? 'event',
    cause: invocation.cause,
    startedAtMs: ran?.fromMs ?? nowMs,
    endedAtMs: nowMs,
    error: record?.errorCode,
  };
  return spansOfInvocation(invoked, { name: 'run source', endedAtMs: ran?.toMs ?? nowMs });
}

/** Events from the API: no code runs, and this stands in the place of a run. */
function publishSpan({ accountId, sourceId }: RunCommit, id: string, nowMs: number): Untraced {
  return {
    spanId: spanIdOf('run', id),
    // Notices of an account have no request.
    ...(sourceId.startsWith(ID_PREFIXES.source) ? { parentSpanId: spanIdOf('request', id) } : {}),
    name: 'publish',
    kind: 'internal',
    startedAtMs: idTimeMs(id) ?? nowMs,
    endedAtMs: nowMs,
    attributes: { 'headwater.account.id': accountId, 'headwater.emitter.id': sourceId },
  };
}

function spansOfExecution(
  { key, invocation, start }: TracedExecution,
  { status, endedAtMs }: { status: string; endedAtMs: number },
): Untraced[] {
  const { id, accountId, workflowId: emitterId } = key;
  const { kind, cause } = invocation;
  const { startedAtMs } = start;
  const error = status === 'failed' ? status : undefined;
  const invoked: Invoked = { id, accountId, emitterId, kind, cause, startedAtMs, endedAtMs, error };
  return spansOfInvocation(invoked, { name: 'run workflow', endedAtMs });
}

function stepSpan({ id, accountId, workflowId }: TracedExecution['key'], step: TracedStep): Untraced {
  const { namespace, runs, status, startedAtMs, endedAtMs } = step;
  return {
    spanId: spanIdOf(...spanOfStep(id, namespace, runs)),
    parentSpanId: spanIdOf('run', id),
    name: 'step',
    kind: 'internal',
    startedAtMs,
    endedAtMs,
    attributes: {
      'headwater.account.id': accountId,
      'headwater.emitter.id': workflowId,
      'headwater.run.id': id,
      'headwater.step': namespace,
      'headwater.step.run': runs,
    },
    ...(step.error === undefined ? {} : { error: status }),
  };
}

function eventSpan({ accountId, emitterId, position, channel }: EventRow, beganAs: string): Untraced {
  const id = formatEventId(position);
  return {
    spanId: spanIdOf('event', `${emitterId}-${id}`),
    parentSpanId: spanIdOf('run', beganAs),
    name: 'event',
    kind: 'producer',
    startedAtMs: position.ms,
    endedAtMs: position.ms,
    attributes: {
      'headwater.account.id': accountId,
      'headwater.emitter.id': emitterId,
      'headwater.event.id': id,
      ...(channel === '' ? {} : { 'headwater.channel': channel }),
    },
  };
}

/** Attributes and failure that attempts of deliveries and of sends have alike. */
function spanOf(
  { item, attempt, status, errorClass }: AttemptResult<DueDelivery | DueSend>,
  host: string | undefined,
  attributes: Record<string, string>,
): Pick<Untraced, 'kind' | 'startedAtMs' | 'endedAtMs' | 'attributes' | 'error'> {
  const startedAtMs = Date.parse(attempt.at);
  const { status_code: statusCode } = attempt;
  return {
    kind: 'client',
    startedAtMs,
    endedAtMs: startedAtMs + attempt.duration_ms,
    attributes: {
      'headwater.account.id': item.accountId,
      ...attributes,
      'headwater.attempt': item.attemptCount + 1,
      ...(host === undefined ? {} : { 'server.address': host }),
      ...(statusCode === undefined ? {} : { 'http.response.status_code': statusCode }),
    },
    ...(status === 'delivered' || status === 'dropped' ? {} : { error: errorClass ?? status }),
  };
}

function attemptSpan(result: AttemptResult<DueDelivery>): Untraced {
  const { id, emitterId, indexedAtMs, seq, webhookId, url, attemptCount } = result.item;
  return {
    spanId: spanIdOf(...spanOfAttempt(id, attemptCount + 1)),
    parentSpanId: spanIdOf('event', `${emitterId}-${indexedAtMs}-${seq}`),
    name: 'delivery attempt',
    ...spanOf(result, URL.parse(url)?.hostname ?? '', {
      'headwater.webhook.id': webhookId,
      'headwater.delivery.id': id,
    }),
  };
}

/** One span for each line of an upload, in the trace of the execution that sent it. */
function sendSpan(
  result: AttemptResult<DueSend>,
  { id, workflowId, executionId }: DueSend['sentBy'][number],
): Untraced {
  const { item } = result;
  const host = item.kind === 'http' ? URL.parse(`http://${item.host}`)?.hostname : undefined;
  return {
    spanId: spanIdOf(...spanOfAttempt(id, item.attemptCount + 1)),
    parentSpanId: spanIdOf('run', executionId),
    name: 'send attempt',
    ...spanOf(result, host, {
      'headwater.emitter.id': workflowId,
      'headwater.run.id': executionId,
      'headwater.send.id': id,
      'headwater.send.kind': item.kind,
    }),
  };
}
