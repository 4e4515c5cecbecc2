/** Streams of events and logs to clients. */
export const STREAM_LIMITS = {
  /** Streams that one node has open, of all accounts. */
  maxStreams: 2_000,
  /** A stream sends a sign of life so often, and its key is looked at again so often. */
  streamHeartbeatMs: 15_000,
  streamKeyCheckMs: 15_000,
  /** How long clients are told to wait before they connect again. */
  streamRetryMs: 1_000,
  /** A client that takes nothing for so long is cut off; it can go on where it was. */
  streamStallMs: 30_000,
  /**
   * How often a node looks for what others have committed, and for what executions have logged; how
   * long a stream waits between two reads.
   */
  streamPollMs: 250,
  streamLogPollMs: 500,
  streamPauseMs: 50,
  /**
   * Lines of a run that goes on: how often a node stores what there is to show, and how long a run
   * that has shown some waits at most before it shows more; what one run, and all of a node, show
   * at once.
   */
  liveLinesTurnMs: 250,
  liveLinesPauseMs: 1_000,
  liveLinesPartChars: 64 * 1024,
  liveLinesTurnChars: 1024 * 1024,
  /** What a stream reads at once; reads of one account under way on one node. */
  streamBatchEvents: 100,
  streamBatchBytes: 256 * 1024,
  /**
   * Events of the emitter, of whatever channel, that it looks through for them; a replay begins
   * with these at the earliest.
   */
  maxStreamScanEvents: 10_000,
  maxStreamReadsPerTenant: 2,
  /**
   * At which each of them reads: the next one begins when the bytes of the one before would have
   * been read.
   */
  streamReadBytesPerSecond: 1024 * 1024,
  /**
   * What streams of one account have read on one node and their clients have not taken; beyond it
   * they do not read on.
   */
  maxStreamBytesPerTenant: 16 * 1024 * 1024,
} as const;
