/** One node: its word to whoever asks whether it is ready, its database, and its end. */
export const NODE_LIMITS = {
  /** How long /healthz waits for the engine's word. */
  readyCheckMs: 2_000,
  /** Without an answer of the database to what a node stores, its connections are given up and made anew. */
  databaseSilenceMs: 30_000,
  /** From the first SIGTERM to the forced end. */
  shutdownMs: 10_000,
} as const;
