/** One node: its word to whoever asks whether it is ready, its database, and its end. */
export const NODE_LIMITS = {
  /** How long /healthz waits for the engine's word. */
  readyCheckMs: 2_000,
  /**
   * A transaction in which its node says nothing for so long is ended by the server; so long work
   * waits for a connection.
   */
  databaseSilenceMs: 30_000,
  /** From the server's first look at a statement to its end. */
  maxStatementMs: 60_000,
  /**
   * Without an answer for so long, another connection finds out whether the database still answers.
   */
  databaseProbeMs: 3_000,
  /** A commit of many that does not end within this is given up, with the items in it. */
  maxCommitMs: 90_000,
  /** Time to connect. */
  databaseConnectMs: 5_000,
  /** Work waits so long for a database that is away, and is then refused. */
  databaseAwayWaitMs: 3_000,
  /** From the first SIGTERM to the forced end. */
  shutdownMs: 10_000,
  /**
   * A second signal ends the process at once, so long after the first: npm passes on one that came
   * to the whole group.
   */
  secondSignalMs: 3_000,
  /**
   * A start that is asked to stop is ended after this. It may wait for the database of
   * `DATABASE_URL` for ever.
   */
  interruptedStartMs: 2_000,
} as const;
