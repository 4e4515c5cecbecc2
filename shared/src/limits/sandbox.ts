/**
 * The processes that code runs in: what it calls, what it holds there, and what the node reads of
 * it.
 */
export const SANDBOX_LIMITS = {
  /**
   * Code of components, with packages and source maps, that runs of one account hold on one node at
   * the same time; more of them wait.
   */
  maxHeldBundleChars: 128 * 1024 * 1024,
  /**
   * Calls to the platform (log lines, timers, requests) that a run makes in one uninterrupted
   * stretch of its code, besides as many as maxEmitsPerRun allows. The process takes 10 000 in 50
   * ms.
   */
  maxCallsPerTurn: 10_000,
  /**
   * Calls of `crypto.subtle` and on data stores that runs of one isolate have open, and what they
   * hold together: the process takes them from a queue that has no bound of its own.
   */
  maxOpenCalls: 1_000,
  maxOpenCallBytes: 48 * 1024 * 1024,
  /**
   * What the process does for an isolate while that waits, and every other isolate of the process
   * with it: data that one call of `crypto`, `zlib`, a text decoder or a compression stream is
   * given, and what decompressing makes. Hashing so much takes some 30 ms.
   */
  maxProcessedBytes: 32 * 1024 * 1024,
  maxInflatedBytes: 64 * 1024 * 1024,
  /**
   * One stream of a cipher that encrypts a whole block for each bit, or byte: so much takes half a
   * second with the slowest.
   */
  maxCfb1StreamBytes: 64 * 1024,
  maxCfb8StreamBytes: 1024 * 1024,
  /**
   * Runs, and components to be loaded, of one tenant that wait on one node for a sandbox process or
   * for a turn in one; as many that are to be alone in theirs.
   */
  maxQueuedRunsPerTenant: 2_000,
  /**
   * How long a run that is repeated alone waits for a process: for longer than any run takes, so
   * that it does not fail for the end of one.
   */
  maxAloneWaitMs: 900_000,
  /**
   * How long a run whose `run` has ended goes on for intervals alone: one that nobody clears would
   * hold it to its time limit.
   */
  intervalGraceMs: 5_000,
  /**
   * How long a component waits for a process to be loaded in: a client waits for what comes of it.
   */
  maxLoadWaitMs: 60_000,
  /**
   * What the sandbox processes of one tenant say, read while others are here; what takes
   * sandboxReadBurstMs need not wait.
   */
  sandboxReadBytesPerSecond: 16 * 1024 * 1024,
  sandboxReadBurstMs: 20,
} as const;
