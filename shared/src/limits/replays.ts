/** Replays of past events to a listener. */
export const REPLAY_LIMITS = {
  /** Replays of one account that have not ended. */
  maxRunningReplays: 10,
  /** Ended ones of an account that are kept, the newest. */
  maxKeptReplays: 100,
  /** Events that a replay names by their ids. */
  maxReplayIds: 1_000,
  /**
   * Events, and bytes of their data where there is a filter, that are looked through for the count.
   */
  maxCountedReplayEvents: 100_000,
  maxCountedReplayBytes: 32 * 1024 * 1024,
  /** Events of the count that are looked up among what the listener got before. */
  maxReplayLookups: 20_000,
  maxReplayRatePerSecond: 1_000,
  /** Events that one turn of a replay goes through, and bytes of their data. */
  replayBatch: 500,
  maxReplayBatchBytes: 4 * 1024 * 1024,
  /**
   * A replay waits while so many deliveries of its webhook, or events of its source or workflow,
   * wait.
   */
  maxReplayAheadDeliveries: 1_000,
  maxReplayAheadInvocations: 100,
} as const;
