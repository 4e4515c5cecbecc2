import type { EmittedEvent } from '@headwater/shared';

/**
 * Oldest to newest by `ts`, as the component interface promises. An event without `ts` counts as of
 * the moment it was emitted; events of the same moment keep the order in which they were emitted.
 */
export function orderEvents(events: readonly EmittedEvent[]): EmittedEvent[] {
  if (events.length < 2) return [...events];
  return events.toSorted((a, b) => momentOf(a) - momentOf(b));
}

function momentOf(event: EmittedEvent): number {
  return event.ts ?? event.emittedAtMs;
}
