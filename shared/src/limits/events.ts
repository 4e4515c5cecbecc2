import { defineLimits } from './define-limits.ts';

/** Events: their fields, dedupe memory, and lists of events and log lines. */
// biome-ignore format: one limit a line
export const EVENT_LIMITS = defineLimits({
  uniqueCacheSize: { default: 100, unit: 'count', scope: 'source', why: 'ids that the dedupe strategy `unique` remembers, first in, first out' },
  maxEventIdChars: { default: 512, unit: 'characters', scope: 'event', why: 'its `id`' },
  maxChannelChars: { default: 128, unit: 'characters', scope: 'event', why: 'the name of its channel' },
  maxSummaryChars: { default: 1_000, unit: 'characters', scope: 'event', why: 'its summary; a longer one is cut' },
  maxPublishedEvents: { default: 100, unit: 'count', scope: 'request', why: 'events that are published' },
  publishedIdHours: { default: 24, unit: 'hours', scope: 'event', why: 'how long the id of a published event is remembered, at least' },
  recentEvents: { default: 100, unit: 'count', scope: 'request', why: 'events that `event_summaries` answers with and streams replay' },
  maxMissedRows: { default: 100, unit: 'count', scope: 'source', why: 'notes of what was not heard or not stored in one commit' },
  maxMissedIds: { default: 20, unit: 'count', scope: 'source', why: 'ids in such a note of events that were known already' },
  maxMissedIdChars: { default: 128, unit: 'characters', scope: 'source', why: 'each of those ids' },
  maxCountedEvents: { default: 10_000, unit: 'count', scope: 'request', why: 'events, executions, deliveries and records that a list counts; `total_count` is never more' },
  maxScannedEvents: { default: 20_000, unit: 'count', scope: 'request', why: 'events that one page of an unindexed list (default channel, all channels) looks through; its cursor leads on' },
  minScannedEvents: { default: 200, unit: 'count', scope: 'source', why: 'events that a search over many sources looks through at least' },
  maxSearchedBytes: { default: 32 * 1024 * 1024, unit: 'bytes', scope: 'request', why: 'event data that one page of a search for text reads; its cursor leads on' },
  maxSearchChars: { default: 1_000, unit: 'characters', scope: 'request', why: 'the text that is searched for' },
  summaryEventBytes: { default: 1024, unit: 'bytes', scope: 'event', why: 'event data in `event_summaries` without `expand=event`; longer data is cut' },
  maxSummariesBytes: { default: 16 * 1024 * 1024, unit: 'bytes', scope: 'answer', why: 'event data in `event_summaries` with `expand=event`; that of older events is cut' },
  maxShownLogBytes: { default: 2 * 1024 * 1024, unit: 'bytes', scope: 'answer', why: 'log lines in a list of runs; the newest run has its own in any case' },
});
