/** Events: what one may have, what is remembered of them, and lists of them and of log lines. */
export const EVENT_LIMITS = {
  /** Ids that the `unique` dedupe strategy remembers, first in, first out. */
  uniqueCacheSize: 100,
  /** Characters of an emitted event's id, channel name and summary. */
  maxEventIdChars: 512,
  maxChannelChars: 128,
  maxSummaryChars: 1_000,
  /** Events that one request publishes. */
  maxPublishedEvents: 100,
  /** How long the id of a published event is remembered, at least. */
  publishedIdHours: 24,
  /** Events that event_summaries answers with and streams replay. */
  recentEvents: 100,
  /**
   * Of one source or workflow in one commit: notes of what was not heard or not stored; ids in one,
   * and their characters.
   */
  maxMissedRows: 100,
  maxMissedIds: 20,
  maxMissedIdChars: 128,
  /** Where counting the events of a list stops. */
  maxCountedEvents: 10_000,
  /**
   * What one page of a list of events looks through where its channel has no index; its cursor
   * leads on from there.
   */
  maxScannedEvents: 20_000,
  /** Of each emitter at least, where a search is over many. */
  minScannedEvents: 200,
  /** Event data that one page of a search for text reads; its cursor leads on from there. */
  maxSearchedBytes: 32 * 1024 * 1024,
  /** Characters of the text that is searched for. */
  maxSearchChars: 1_000,
  /** Event data longer than this is cut in event_summaries unless `expand=event`. */
  summaryEventBytes: 1024,
  /**
   * Event data that event_summaries answers with `expand=event`, together; older events are cut as
   * without it.
   */
  maxSummariesBytes: 16 * 1024 * 1024,
  /** Log lines that a list of runs shows, together; the newest run has its own in any case. */
  maxShownLogBytes: 2 * 1024 * 1024,
} as const;
