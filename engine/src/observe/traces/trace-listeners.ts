import { LIMITS, matchesChannel } from '@headwater/shared';
import type { MissReason, TraceListener, TraceRun } from '../../contract/index.ts';
import { emitIdOf } from '../../events/index.ts';
import type { TraceEventRow, TraceMissedRow, TraceSubscriptionRow } from './read-trace.sql.ts';
import type { TraceDeliveryRow } from './read-trace-deliveries.sql.ts';
import { filteredOut, subscriptionsTo } from './filtered-listeners.ts';

/** Rows about the listeners of a trace. */
export interface ListenerParts {
  events: readonly TraceEventRow[];
  deliveries: readonly TraceDeliveryRow[];
  missed: readonly TraceMissedRow[];
  subscriptions: readonly TraceSubscriptionRow[];
  /** By `emit_id`: of events that filters look at. */
  data: ReadonlyMap<string, string>;
  names: ReadonlyMap<string, string>;
}

export interface FoundListeners {
  /** By the `emit_id` of the event. */
  byEvent: ReadonlyMap<string, TraceListener[]>;
  /** There were more than LIMITS.maxTraceListeners. */
  isCut: boolean;
}

/** Finds listeners of an event besides the known ones. */
type Finder = (row: TraceEventRow, known: readonly TraceListener[]) => TraceListener[];

export const emitIdOfRow = (row: TraceEventRow) => emitIdOf(row.emitter_id, { ms: row.indexed_at_ms, seq: row.seq });

/**
 * Listeners that got the events or ran for them, then those that missed them, then, if there is
 * room, those that were not meant. The limit covers all events: hundreds of events with a thousand
 * subscriptions would fill hundreds of megabytes.
 */
export async function findListeners(
  parts: ListenerParts,
  started: ReadonlyMap<string | undefined, readonly TraceRun[]>,
  giveWay: () => Promise<void>,
): Promise<FoundListeners> {
  const byEvent = new Map<string, TraceListener[]>();
  let left = LIMITS.maxTraceListeners;
  for (const find of [reached(parts, started), missing(parts), filtered(parts), onOtherChannels(parts)]) {
    for (const row of parts.events) {
      const known = byEvent.get(emitIdOfRow(row)) ?? [];
      const found = find(row, known);
      byEvent.set(emitIdOfRow(row), [...known, ...found.slice(0, left).map((one) => named(one, parts.names))]);
      if (found.length > left) return { byEvent, isCut: true };
      left -= found.length;
      await giveWay();
    }
  }
  return { byEvent, isCut: false };
}

function named(listener: TraceListener, names: ListenerParts['names']): TraceListener {
  const listenerName = names.get(listener.listenerId);
  return listenerName === undefined ? listener : { ...listener, listenerName };
}

function reached({ deliveries }: ListenerParts, started: ReadonlyMap<string | undefined, readonly TraceRun[]>): Finder {
  const byEvent = Map.groupBy(deliveries, (one) => emitIdOf(one.emitter_id, { ms: one.indexed_at_ms, seq: one.seq }));
  return (row) => [
    ...(byEvent.get(emitIdOfRow(row)) ?? []).map((one) => ({
      listenerId: one.webhook_id,
      outcome: 'delivery' as const,
      delivery: deliveryOf(one),
    })),
    ...(started.get(emitIdOfRow(row)) ?? []).map((run) => ({
      listenerId: run.emitterId,
      outcome: 'run' as const,
      run,
    })),
  ];
}

function deliveryOf({ id, status, attempts, next_attempt_ms: nextAttemptAtMs }: TraceDeliveryRow) {
  const shown = attempts.slice(-LIMITS.maxTraceAttempts);
  return {
    id,
    status,
    attempts: shown,
    ...(status === 'pending' && nextAttemptAtMs !== null ? { nextAttemptAtMs } : {}),
  };
}

function missing({ missed }: ListenerParts): Finder {
  const byEmitter = Map.groupBy(missed, (one) => one.emitter_id);
  return (row, known) => {
    const got = new Set(known.map(({ listenerId }) => listenerId));
    const reasons = new Map<string, MissReason>();
    for (const one of byEmitter.get(row.emitter_id) ?? []) {
      if (one.listener_id === null || !isMissed(row, one)) continue;
      // Events that were filtered with less effort lie between those that took too much.
      if (one.reason === 'filter_too_costly' && got.has(one.listener_id)) continue;
      reasons.set(one.listener_id, one.reason as MissReason);
    }
    return [...reasons].map(([listenerId, reason]) => ({ listenerId, outcome: 'missed', reason }));
  };
}

/**
 * Notes of such reasons are of one run each, the others of everything that an emitter got in one
 * commit.
 */
const OF_ONE_RUN: ReadonlySet<string> = new Set(['too_many_hops', 'backlog_full', 'hold_full', 'filter_too_costly']);

function isMissed(row: TraceEventRow, missed: TraceMissedRow): boolean {
  if (missed.channel !== row.channel) return false;
  const { reason, ms, from_seq: from, to_seq: to } = missed;
  const isInRange = ms === row.indexed_at_ms && from !== null && to !== null && from <= row.seq && row.seq <= to;
  if (!OF_ONE_RUN.has(reason)) return reason === 'paused' && isInRange;
  return missed.invocation_id === row.invocation_id && (reason !== 'filter_too_costly' || isInRange);
}

function filtered({ subscriptions, data }: ListenerParts): Finder {
  return (row, known) => filteredOut(row, subscriptions, data.get(emitIdOfRow(row)), known);
}

/**
 * Subscribers of the emitter at that time that did not listen to this channel. None for built-in
 * channels.
 */
function onOtherChannels({ subscriptions }: ListenerParts): Finder {
  return (row, known) => {
    if (row.channel.startsWith('$')) return [];
    const ofEmitter = subscriptionsTo(row, subscriptions).filter((one) => !one.event_name.startsWith('$'));
    const hearing = ofEmitter
      .filter((one) => matchesChannel(one.event_name, row.channel))
      .map((one) => one.listener_id);
    const passed = new Set([...hearing, ...known.map(({ listenerId }) => listenerId)]);
    const others = ofEmitter.filter((one) => !passed.has(one.listener_id) && one.created_ms <= row.indexed_at_ms);
    const ids = new Set(others.map((one) => one.listener_id));
    return [...ids].map((listenerId) => ({ listenerId, outcome: 'missed', reason: 'no_such_channel' }));
  };
}
