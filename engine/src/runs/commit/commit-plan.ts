import type { DedupeStrategy, EmittedEvent, ExceededLimit } from '@headwater/shared';
import {
  DEFAULT_CHANNEL,
  ERRORS_CHANNEL,
  type EventCause,
  type EventPosition,
  type HeldInvocation,
  type InvocationKind,
  LOGS_CHANNEL,
  nextPosition,
  readStoredLines,
  storableText,
  timesOfRun,
} from '../../events/index.ts';
import { type DedupeState, decideDedupe } from './dedupe.ts';
import type { EventRow, InvocationRow } from './event-rows.ts';
import { type DbRoom, type DbSize, acceptDbWrites } from './accept-db-writes.ts';
import { type FindListeners, indexListeners, type Listener } from './listeners.ts';
import { collectMissed, droppedIds, type MissedEvents, type MissedRow } from './missed.ts';
import { orderEvents } from './order-events.ts';
import {
  addListeners,
  countQueued,
  type Emitting,
  findExceeded,
  type Led,
  type RoomFor,
  type RoomForHeld,
} from './plan-listeners.ts';
import { decidePublished, type PublishedEvent } from './published.ts';
import type { NewSend } from '../../outbox/index.ts';
import type { ChangeLease } from '../../db/index.ts';
import type { ExecutionCommit, ExecutionEnd } from './execution-rows.ts';

/** Results of one run, or of a whole part of a long one, for its commit. */
export interface RunCommit {
  accountId: string;
  sourceId: string;
  /**
   * The invocation that ran and the node that held it; absent for a lifecycle hook. `kind` default:
   * event.
   */
  invocation?: {
    id: string;
    leasedBy: string;
    claim: number;
    cause?: EventCause | undefined;
    kind?: InvocationKind;
    /** It has no row that could be lost, or tell that it was committed. */
    isUnstored?: true;
  };
  /**
   * For events from the API, which no run emitted: the id with which their trace begins. An `id`
   * that the emitter remembers is not stored again. If they have no room, none of them is stored.
   */
  publishedAs?: string;
  /** The invocation is given up, and kept to be retried. */
  abandoned?: HeldInvocation;
  /**
   * The change of a lifecycle hook. If another node has taken the change over, nothing of the hook
   * is stored.
   */
  change?: ChangeLease;
  /** False for a part: the invocation goes on. */
  final: boolean;
  /** Start of the run, and the time at which it had its output; absent if nothing ran. */
  ran?: { fromMs: number; toMs: number };
  dedupe: DedupeStrategy | undefined;
  emits: readonly EmittedEvent[];
  /** The counts of its earlier parts. Default: it had none. */
  earlier?: EmittedCounts;
  /** `$.service.db`: key → JSON text; empty where the key is deleted. */
  dbWrites: ReadonlyMap<string, string>;
  /**
   * Maximum size of the store with these writes. Values that do not fit are not stored. Default:
   * none.
   */
  maxDbBytes?: number;
  /** Maximum size of all stores of the account. Default: none. */
  maxAllDbBytes?: number;
  /** How long a chain of events may be that sources hear. Default: no limit. */
  maxEventHops?: number;
  /**
   * The record of a run that fails because some of its values did not fit. Called only for a run
   * that had not failed.
   */
  recordOverLimit?: (limit: ExceededLimit) => RunRow | undefined;
  /** Present where the run logged or failed. */
  record?: RunRow;
  /** Workflows only: steps and end. They contain the record, so `runs` gets none. */
  execution?: ExecutionCommit & { end: ExecutionEnd };
  /** Sends of the execution through `$.send`. */
  sends?: readonly NewSend[];
}

/**
 * Events that a run emitted by itself, not those that tell of it: stored ones, and those that
 * dedupe dropped.
 */
export interface EmittedCounts {
  emitted: number;
  deduped: number;
}

export interface RunRow {
  id: string;
  kind: string;
  errorCode?: string;
  errorMessage?: string;
  errorStack?: string;
  errorLimit?: ExceededLimit;
  logs: string;
  /** How many of these lines followers were shown before. Default: none. */
  liveLines?: number;
  startedAtMs: number;
  endedAtMs: number;
  /** The event on the source's `$errors` channel, JSON text; only where the run failed. */
  errorEvent?: string;
}

export interface EmitterState {
  last: EventPosition;
  /** Dedupe state of the emitter. */
  dedupe: DedupeState | undefined;
  /** Size of `$.service.db`. byKey has the keys that these commits write. */
  db: DbSize;
  /**
   * The places of events with known ids, as far as these commits publish them. Default: none is
   * known.
   */
  published?: ReadonlyMap<string, EventPosition>;
}

export interface CommitPlan extends Led {
  events: EventRow[];
  missed: MissedRow[];
  /** States that changed, by emitter. */
  states: Map<string, EmitterState>;
  /** Dedupe states that changed, by emitter; undefined: nothing is remembered any more. */
  dedupes: Map<string, DedupeState | undefined>;
  /** Planned result of each run, in the order in which the runs were decided. */
  runs: Map<RunCommit, PlannedRun>;
  /** By account, what its stores have grown by, or less than nothing. */
  dbGrowth: Map<string, number>;
  /** Ids that were published and not known before, by emitter. */
  published: Map<string, Map<string, EventPosition>>;
}

/** Room that accounts have left. */
export interface PlanRoom {
  /** Default: there is room for everything. */
  roomFor?: RoomFor | undefined;
  /** As `roomFor`, for held deliveries. */
  roomForHeld?: RoomForHeld | undefined;
  /** Size of all `$.service.db` of an account before this commit. Default: 0. */
  dbBytesOf?: ((accountId: string) => number) | undefined;
}

interface PlannedRun {
  /** The events that it stored, those that tell of it included. */
  rows: readonly EventRow[];
  dbWrites: RunCommit['dbWrites'];
  record: RunRow | undefined;
  exceeded: ExceededLimit | undefined;
  /** The place of the record; absent without one. */
  recordedAt: EventPosition | undefined;
  /** Nothing leads to the run but its id: no event that it emitted is stored. */
  isQuiet: boolean;
  /** Sums over all its parts up to this one. */
  counts: EmittedCounts;
  /** The outcome of each published event, in the order given. */
  published?: readonly PublishedEvent[];
  /** The limit that left no room for the published events: none of them is stored. */
  refused?: ExceededLimit;
}

/**
 * Turns runs into rows. Pure except for new ids. Runs of one source are planned in the given order,
 * each on the state that the one before left. So the result is the same as running them one after
 * the other.
 */
export function planCommit(
  runs: readonly RunCommit[],
  states: ReadonlyMap<string, EmitterState>,
  listeners: readonly Listener[],
  nowMs: number,
  { roomFor = () => undefined, roomForHeld = () => true, dbBytesOf = () => 0 }: PlanRoom = {},
): CommitPlan {
  const hears = indexListeners(listeners);
  const plan: CommitPlan = {
    events: [],
    deliveries: [],
    invocations: [],
    fanOuts: [],
    missed: [],
    states: new Map(),
    dedupes: new Map(),
    runs: new Map(),
    dbGrowth: new Map(),
    published: new Map(),
  };
  const missed = collectMissed();
  const sizes = new Map<string, DbSize>();
  for (const run of runs) {
    const state = plan.states.get(run.sourceId) ?? states.get(run.sourceId);
    // No state: the source is deleted for good, and has no listeners.
    if (state === undefined) continue;
    const size = sizes.get(run.sourceId) ?? { bytes: state.db.bytes, byKey: new Map(state.db.byKey) };
    sizes.set(run.sourceId, size);
    const growth = plan.dbGrowth.get(run.accountId) ?? 0;
    const fitted = acceptDbWrites(run.dbWrites, size, dbRoomOf(run, dbBytesOf(run.accountId) + growth));
    if (fitted.growth !== 0) plan.dbGrowth.set(run.accountId, growth + fitted.growth);
    const emitted = planEvents(run, state, fitted.exceeded, { hears, roomFor, nowMs, plan });
    const { record, exceeded, recordedAt, last, dedupe, published } = emitted;
    const counts = countsOf(run, emitted);
    const { rows } = emitted;
    const isQuiet = rows.length === 0 && counts.emitted === 0;
    const planned = { rows, dbWrites: fitted.kept, record, exceeded, recordedAt, isQuiet, counts };
    if (run.publishedAs !== undefined && emitted.isFull && exceeded !== undefined) {
      plan.runs.set(run, { ...planned, rows: [], refused: exceeded });
      continue;
    }
    plan.runs.set(run, published === undefined ? planned : { ...planned, published });
    if (published !== undefined) rememberPublished(plan, run, published);
    if (last !== state.last || run.emits.length > 0 || size.bytes !== state.db.bytes)
      plan.states.set(run.sourceId, { ...state, last, dedupe, db: size });
    if (dedupe !== state.dedupe) plan.dedupes.set(run.sourceId, dedupe);
    missed.deduped(missedRunOf(run), emitted.dedupedIds);
    for (const event of rows) plan.events.push(event);
    addListeners(plan, emittingOf(run), rows, hears, { isFull: emitted.isFull, roomForHeld }, missed);
  }
  placeMissed(plan, missed, states, nowMs);
  for (const ofOne of Map.groupBy(plan.invocations, ({ sourceId }) => sourceId).values()) putInOrder(ofOne);
  return plan;
}

function countsOf({ earlier, emits }: RunCommit, { dedupedIds }: PlannedEvents): EmittedCounts {
  const deduped = dedupedIds.length;
  return {
    emitted: (earlier?.emitted ?? 0) + emits.length - deduped,
    deduped: (earlier?.deduped ?? 0) + deduped,
  };
}

function rememberPublished(plan: CommitPlan, run: RunCommit, published: readonly PublishedEvent[]): void {
  const ofEmitter = plan.published.get(run.sourceId) ?? new Map<string, EventPosition>();
  for (const { id, position, isDuplicate } of published) {
    if (id !== undefined && !isDuplicate) ofEmitter.set(id, position);
  }
  plan.published.set(run.sourceId, ofEmitter);
}

function dbRoomOf({ maxDbBytes, maxAllDbBytes }: RunCommit, allBytes: number): DbRoom {
  const noLimit = Number.POSITIVE_INFINITY;
  return { maxDbBytes: maxDbBytes ?? noLimit, maxAllDbBytes: maxAllDbBytes ?? noLimit, allBytes };
}

/**
 * Ids of one millisecond are random: sorted, they are in the order of the events, in which a lane
 * takes them up.
 */
function putInOrder(invocations: readonly InvocationRow[]): void {
  const ids = invocations.map(({ id }) => id).sort();
  invocations.forEach((invocation, i) => Object.assign(invocation, { id: ids[i] }));
}

interface PlannedEvents {
  rows: EventRow[];
  dedupedIds: string[];
  recordedAt: EventPosition | undefined;
  last: EventPosition;
  dedupe: DedupeState | undefined;
  record: RunRow | undefined;
  exceeded: ExceededLimit | undefined;
  isFull: boolean;
  published?: readonly PublishedEvent[];
}

/** Events that pass dedupe, then log lines if a listener is subscribed, then the error. */
function planEvents(
  run: RunCommit,
  state: EmitterState,
  overDb: ExceededLimit | undefined,
  { hears, roomFor, nowMs, plan }: { hears: FindListeners; roomFor: RoomFor; nowMs: number; plan: CommitPlan },
): PlannedEvents {
  const { accepted, dedupe, decide } = acceptedOf(run, state, plan.published.get(run.sourceId));
  const dedupedIds = droppedIds(run.emits, accepted);
  const logs = logEvents(run, hears);
  const emitting = emittingOf(run);
  const { limit, isFull } = findExceeded(
    emitting,
    countQueued(emitting, [...accepted, ...logs].map(heardAs), hears),
    roomFor,
  );
  const exceeded = overDb ?? limit;
  const record = recordOf(run, exceeded);
  const error = record?.errorEvent;
  const errors = error === undefined ? [] : [{ data: error, name: ERRORS_CHANNEL, emittedAtMs: nowMs }];
  let { last } = state;
  const rows = [...accepted, ...logs, ...errors].map((event) => {
    last = nextPosition(last, nowMs);
    return eventRow(run, last, event);
  });
  const recordedAt = record === undefined ? undefined : nextPosition(last, nowMs);
  const planned = { rows, dedupedIds, recordedAt, last: recordedAt ?? last, dedupe, record, exceeded, isFull };
  return decide === undefined ? planned : { ...planned, published: decide(rows.map((row) => row.position)) };
}

/**
 * Published events keep their order, and the state of the emitter's own strategy stays as it is.
 */
function acceptedOf(
  run: RunCommit,
  state: EmitterState,
  publishedNow: ReadonlyMap<string, EventPosition> | undefined,
): {
  accepted: EmittedEvent[];
  dedupe: DedupeState | undefined;
  decide?: (positions: readonly EventPosition[]) => PublishedEvent[];
} {
  if (run.emits.length === 0) return { accepted: [], dedupe: state.dedupe };
  if (run.publishedAs !== undefined) {
    const known = (id: string) => publishedNow?.get(id) ?? state.published?.get(id);
    return { ...decidePublished(run.emits, known), dedupe: state.dedupe };
  }
  const { accepted, state: dedupe } = decideDedupe(run.dedupe, state.dedupe, orderEvents(run.emits));
  return { accepted, dedupe };
}

const traceIdOf = (run: RunCommit) => run.invocation?.cause?.traceId ?? beganWith(run);

/** The origin of the events: the invocation, or the request that published them. */
export const beganWith = (run: RunCommit) => run.invocation?.id ?? run.publishedAs;

function missedRunOf(run: RunCommit) {
  const { accountId, sourceId: emitterId } = run;
  return { accountId, emitterId, invocationId: beganWith(run), traceId: traceIdOf(run), dedupe: run.dedupe };
}

/** After all events of their emitters, because the positions continue from those. */
function placeMissed(
  plan: CommitPlan,
  missed: MissedEvents,
  states: ReadonlyMap<string, EmitterState>,
  nowMs: number,
): void {
  for (const emitterId of missed.emitters()) {
    const state = plan.states.get(emitterId) ?? states.get(emitterId);
    if (state === undefined) continue;
    const { rows, last } = missed.rows(emitterId, state.last, nowMs);
    plan.missed.push(...rows);
    plan.states.set(emitterId, { ...state, last });
  }
}

/** A run that had not failed before ends with the limit; one that had keeps its own reason. */
function recordOf(run: RunCommit, exceeded: ExceededLimit | undefined): RunRow | undefined {
  const isFirstFault = exceeded !== undefined && run.final && run.record?.errorCode === undefined;
  return isFirstFault ? (run.recordOverLimit?.(exceeded) ?? run.record) : run.record;
}

function logEvents(run: RunCommit, hears: FindListeners): EmittedEvent[] {
  const { record } = run;
  if (record === undefined) return [];
  const heard = hears({ accountId: run.accountId, emitterId: run.sourceId, channel: LOGS_CHANNEL });
  if (heard.webhooks.length + heard.held.length + heard.sources.length === 0) return [];
  return readStoredLines(record.logs).map(({ atMs, level, message, limit }) => ({
    data: JSON.stringify({ level, message, ts: atMs, run: record.id, limit }),
    name: LOGS_CHANNEL,
    ts: atMs,
    emittedAtMs: atMs,
  }));
}

function emittingOf(run: RunCommit): Emitting {
  const { accountId, sourceId: emitterId, maxEventHops: maxHops = Number.POSITIVE_INFINITY } = run;
  return { accountId, emitterId, traceId: traceIdOf(run), hops: (run.invocation?.cause?.hops ?? 0) + 1, maxHops };
}

const heardAs = (event: EmittedEvent) => ({ channel: channelOf(event), data: event.data });

export const channelOf = (event: EmittedEvent) => storableText(event.name ?? DEFAULT_CHANNEL);

function eventRow(run: RunCommit, position: EventPosition, event: EmittedEvent): EventRow {
  return {
    accountId: run.accountId,
    emitterId: run.sourceId,
    position,
    invocationId: beganWith(run) ?? null,
    cause: run.invocation?.cause,
    times: timesOfRun(run),
    channel: channelOf(event),
    emitId: event.id === undefined ? null : storableText(String(event.id)),
    summary: event.summary === undefined ? null : storableText(event.summary),
    ts: event.ts ?? null,
    data: event.data,
  };
}
