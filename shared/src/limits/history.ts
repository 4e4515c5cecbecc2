/** The history of an account: how it is counted and cut, and deletions from it. */
export const HISTORY_LIMITS = {
  /** What each row of an account's history counts for maxHistoryBytes beside its texts: a million tiny events are no small history. */
  historyRowBytes: 256,
  /** History is counted by the time of its writing, and cut, in parts so long. */
  historyPartMs: 60_000,
  /** Deletions of workflows, and of events, of one account on one node: one goes on, the others wait. Each may be thousands of rows. */
  maxDeletionsPerTenant: 100,
} as const;
