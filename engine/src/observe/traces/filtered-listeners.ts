import { explainFilter, LIMITS, matchesChannel } from '@headwater/shared';
import type { TraceListener } from '../../contract/index.ts';
import { isWorkflow, parseEvent, readFilter } from '../../events/index.ts';
import type { TraceEventRow, TraceSubscriptionRow } from './read-trace.sql.ts';

/** Subscriptions to the event's emitter, by id or by glob. None hears itself by a glob. */
export function subscriptionsTo(
  row: TraceEventRow,
  subscriptions: readonly TraceSubscriptionRow[],
): TraceSubscriptionRow[] {
  const glob = isWorkflow(row.emitter_id) ? 'p_*' : 'dc_*';
  return subscriptions.filter(
    (one) => one.emitter_id === row.emitter_id || (one.emitter_id === glob && one.listener_id !== row.emitter_id),
  );
}

/** Events whose data are needed to evaluate filters again. */
export function eventsToFilter(
  events: readonly TraceEventRow[],
  subscriptions: readonly TraceSubscriptionRow[],
): TraceEventRow[] {
  const withFilter = subscriptions.filter(({ filter }) => filter !== null);
  if (withFilter.length === 0) return [];
  return events.filter((row) => subscriptionsTo(row, withFilter).some((one) => isFilterOf(one, row)));
}

/** Whether it is the filter that the subscription had when the event was stored. */
function isFilterOf({ event_name: channel, filter_ms: sinceMs }: TraceSubscriptionRow, row: TraceEventRow): boolean {
  return matchesChannel(channel, row.channel) && sinceMs <= row.indexed_at_ms;
}

/**
 * Listeners that did not get the event because none of their filters for its channel matches.
 * Filters are evaluated again: recording each filtered event would cost as much as delivering it.
 */
export function filteredOut(
  row: TraceEventRow,
  subscriptions: readonly TraceSubscriptionRow[],
  data: string | undefined,
  known: readonly TraceListener[],
): TraceListener[] {
  const passed = new Set(known.map(({ listenerId }) => listenerId));
  const hearing = subscriptionsTo(row, subscriptions).filter(
    (one) => !passed.has(one.listener_id) && matchesChannel(one.event_name, row.channel),
  );
  if (!hearing.some(({ filter }) => filter !== null)) return [];
  const value = data === undefined ? undefined : { event: parseEvent(data) };
  return [...Map.groupBy(hearing, (one) => one.listener_id)].flatMap(([listenerId, own]) => {
    if (!own.every((one) => one.filter !== null && isFilterOf(one, row))) return [];
    const clauses = own.map(({ filter }) => clauseOf(filter ?? '', value));
    if (value !== undefined && clauses.includes(undefined)) return [];
    const [clause] = clauses;
    return [{ listenerId, outcome: 'missed', reason: 'filtered', ...(clause === undefined ? {} : { clause }) }];
  });
}

function clauseOf(text: string, value: { event: unknown } | undefined): string | undefined {
  const filter = readFilter(text);
  if (filter === undefined || value === undefined) return undefined;
  return explainFilter(filter, value.event, { left: LIMITS.maxFilterStepsPerEvent });
}
