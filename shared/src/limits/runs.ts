/**
 * Runs of sources and workflows: what begins them, what a node holds of them, and committing what
 * they put out.
 */
export const RUN_LIMITS = {
  /**
   * Props of sources that one node keeps in memory for their next runs, with secrets opened; what
   * they take there, about.
   */
  maxCachedSourceBytes: 64 * 1024 * 1024,
  /** A run commits a part of what it emitted after this many emits, bytes or milliseconds. */
  partialCommitEmits: 1_000,
  partialCommitBytes: 2 * 1024 * 1024,
  partialCommitMs: 5_000,
  /**
   * Invocations that one node holds in memory, of one tenant at most half of them; what comes
   * beyond is stored for whichever node is free. Their events' bytes.
   */
  maxHeldInvocations: 4_000,
  maxHeldInvocationBytes: 128 * 1024 * 1024,
  /**
   * Times that the sandbox process of a run ends while the run is alone in it, before the run is
   * abandoned.
   */
  maxInvocationAttempts: 3,
  /**
   * Abandoned runs that are kept of one account until they are retried, and the bytes of their
   * events: the newest.
   */
  maxAbandonedRuns: 10_000,
  maxAbandonedRunBytes: 64 * 1024 * 1024,
  /** For so long, whatever the account keeps of its history. */
  abandonedRunDays: 90,
  /** Failed executions that one request replays. */
  maxRetriedExecutions: 1_000,
  /**
   * What runs and steps of one tenant put out that is more in one commit is committed at this pace,
   * while others are here.
   */
  smallCommitChars: 256 * 1024,
  commitCharsPerSecond: 8 * 1024 * 1024,
  /** Smallest interval of a timer. */
  minTimerIntervalSeconds: 1,
  maxTimerIntervalSeconds: 366 * 24 * 3600,
  /** A cron expression. */
  maxCronChars: 512,
  /**
   * The days in it that are looked for as the nearest weekday (`15W`): each on its own, on every
   * day.
   */
  maxNearestWeekdays: 5,
  /**
   * Timers of one request that have one: of a rare one the next match is found in about half a
   * millisecond.
   */
  maxTimerCrons: 50,
} as const;
