/** The history of an account: how it is counted and cut, and deletions from it. */
export const HISTORY_LIMITS = {
  /**
   * What each row of an account's history counts for maxHistoryBytes beside its texts: a million
   * tiny events are no small history.
   */
  historyRowBytes: 256,
  /** History is counted by the time of its writing, and cut, in parts so long. */
  historyPartMs: 60_000,
  /**
   * Counters by minute are kept for a day and the hour that has begun; counters by hour as long as
   * the history.
   */
  minuteStatsKeptMs: 90_000_000,
  /** Bounds of one answer with counters by time. */
  maxStatBuckets: 1_500,
  /**
   * What the sample receiver of an account keeps: so many requests, so long, and of each body its
   * beginning.
   */
  maxSampleRequests: 100,
  sampleRequestsKeptMs: 86_400_000,
  maxSampleBodyBytes: 65_536,
  /**
   * Deletions of workflows, of events, and of data stores or their records, each, of one account on
   * one node: one goes on, the others wait. Each may be thousands of rows. The same of webhooks
   * that are stopped or deleted, which cancel what is pending in turns.
   */
  maxDeletionsPerTenant: 100,
} as const;
