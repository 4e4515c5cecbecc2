import { type DedupeStrategy, type EmittedEvent, type ExceededLimit, newId } from '@headwater/shared';
import { type DedupeState, decideDedupe } from './dedupe.ts';
import { type EventPosition, nextPosition } from './event-id.ts';
import { type DbSize, fitDbWrites } from './fit-db-writes.ts';
import { orderEvents } from './order-events.ts';
import { storableText } from './storable-text.ts';

/** What one run (or a whole part of a long one) brings to its commit. */
export interface RunCommit {
  accountId: string;
  sourceId: string;
  /** The invocation that ran and the node that held it; absent for a lifecycle hook. */
  invocation?: { id: string; leasedBy: string };
  /** False for a part: the invocation goes on. */
  final: boolean;
  dedupe: DedupeStrategy | undefined;
  emits: readonly EmittedEvent[];
  /** `$.service.db`: key → JSON text. */
  dbWrites: ReadonlyMap<string, string>;
  /** What the store may take with them. Default: no limit. Values that do not fit are not stored. */
  maxDbBytes?: number;
  /** The record of a run whose values did not all fit, which ends as failed. Called for a run that had not failed. */
  recordOverLimit?: (limit: ExceededLimit) => RunRow | undefined;
  /** Present where the run logged or failed. */
  record?: RunRow;
}

export interface RunRow {
  id: string;
  kind: string;
  errorCode?: string;
  errorMessage?: string;
  errorStack?: string;
  errorLimit?: ExceededLimit;
  logs: string;
  startedAtMs: number;
  endedAtMs: number;
  /** The event on the source's `$errors` channel, JSON text; only where the run failed. */
  errorEvent?: string;
}

export interface EmitterState {
  last: EventPosition;
  dedupe: DedupeState | undefined;
  /** Of `$.service.db`; byKey holds the keys that these commits write. */
  db: DbSize;
}

/** A subscription of an active webhook, with what a first attempt needs. `emitterId` may be the glob `dc_*`. */
export interface Listener {
  accountId: string;
  emitterId: string;
  channel: string;
  webhookId: string;
  url: string;
  sealedSecret: string;
  format: 'raw' | 'envelope';
}

interface EventRow {
  accountId: string;
  emitterId: string;
  position: EventPosition;
  invocationId: string | null;
  channel: string;
  emitId: string | null;
  summary: string | null;
  ts: number | null;
  data: string;
}

export interface DeliveryRow {
  id: string;
  event: EventRow;
  listener: Listener;
}

export interface CommitPlan {
  events: EventRow[];
  deliveries: DeliveryRow[];
  /** States that changed, by emitter. */
  states: Map<string, EmitterState>;
  /** What is left of the runs, which were decided in this order. */
  runs: Map<RunCommit, PlannedRun>;
}

interface PlannedRun {
  dbWrites: ReadonlyMap<string, string>;
  record: RunRow | undefined;
  exceeded: ExceededLimit | undefined;
}

type RunToEmit = Omit<RunCommit, 'record'> & { record: RunRow | undefined };

const ERRORS_CHANNEL = '$errors';
const DEFAULT_CHANNEL = '';

/**
 * Turns runs into rows. Pure but for new delivery ids. Runs of one source are taken in the order given, each against the
 * state that the one before left, so the result is that of running them one after the other.
 */
export function planCommit(
  runs: readonly RunCommit[],
  states: ReadonlyMap<string, EmitterState>,
  listeners: readonly Listener[],
  nowMs: number,
): CommitPlan {
  const byEmitter = Map.groupBy(listeners, (listener) => `${listener.accountId} ${listener.emitterId}`);
  const plan: CommitPlan = { events: [], deliveries: [], states: new Map(), runs: new Map() };
  const sizes = new Map<string, DbSize>();
  for (const run of runs) {
    const state = plan.states.get(run.sourceId) ?? states.get(run.sourceId);
    // No state: the source is gone for good, and nobody is left to hear it.
    if (state === undefined) continue;
    const size = sizes.get(run.sourceId) ?? { bytes: state.db.bytes, byKey: new Map(state.db.byKey) };
    sizes.set(run.sourceId, size);
    const planned = planRun(run, size);
    plan.runs.set(run, planned);
    const events = eventsOf({ ...run, record: planned.record }, { ...state, db: size }, nowMs, plan);
    if (size.bytes !== state.db.bytes && !plan.states.has(run.sourceId))
      plan.states.set(run.sourceId, { ...state, db: size });
    for (const event of events) {
      plan.events.push(event);
      for (const listener of listenersOf(event, byEmitter)) {
        plan.deliveries.push({ id: newId('delivery', nowMs), event, listener });
      }
    }
  }
  return plan;
}

/** `size` becomes that of the store with what this run may write. */
function planRun(run: RunCommit, size: DbSize): PlannedRun {
  const { dbWrites, record, maxDbBytes = Number.POSITIVE_INFINITY } = run;
  if (dbWrites.size === 0) return { dbWrites, record, exceeded: undefined };
  const { kept, exceeded } = fitDbWrites(dbWrites, size, maxDbBytes);
  const isFirstFault = exceeded !== undefined && run.final && record?.errorCode === undefined;
  return {
    dbWrites: kept,
    record: isFirstFault ? (run.recordOverLimit?.(exceeded) ?? record) : record,
    exceeded,
  };
}

function eventsOf(run: RunToEmit, state: EmitterState, nowMs: number, plan: CommitPlan): EventRow[] {
  const errorEvent = run.record?.errorEvent;
  if (run.emits.length === 0 && errorEvent === undefined) return [];
  const decision =
    run.emits.length === 0
      ? { accepted: [], state: state.dedupe }
      : decideDedupe(run.dedupe, state.dedupe, orderEvents(run.emits));
  let last = state.last;
  const rows = decision.accepted.map((event) => {
    last = nextPosition(last, nowMs);
    return eventRow(run, last, event);
  });
  if (errorEvent !== undefined) {
    last = nextPosition(last, nowMs);
    rows.push(eventRow(run, last, { data: errorEvent, name: ERRORS_CHANNEL, emittedAtMs: nowMs }));
  }
  plan.states.set(run.sourceId, { last, dedupe: decision.state, db: state.db });
  return rows;
}

function eventRow(run: RunToEmit, position: EventPosition, event: EmittedEvent): EventRow {
  return {
    accountId: run.accountId,
    emitterId: run.sourceId,
    position,
    invocationId: run.invocation?.id ?? null,
    channel: storableText(event.name ?? DEFAULT_CHANNEL),
    emitId: event.id === undefined ? null : storableText(String(event.id)),
    summary: event.summary === undefined ? null : storableText(event.summary),
    ts: event.ts ?? null,
    data: event.data,
  };
}

/** Each webhook once, also when both its id and the glob match. */
function listenersOf(event: EventRow, byEmitter: ReadonlyMap<string, Listener[]>): Listener[] {
  const own = byEmitter.get(`${event.accountId} ${event.emitterId}`) ?? [];
  const all = byEmitter.get(`${event.accountId} dc_*`) ?? [];
  const found = new Map<string, Listener>();
  for (const listener of [...own, ...all]) {
    if (listener.channel === event.channel) found.set(listener.webhookId, listener);
  }
  return [...found.values()];
}
