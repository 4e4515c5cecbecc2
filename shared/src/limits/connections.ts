/** Connections of clients, what they send slowly or do not read, and the time that they have. */
export const CONNECTION_LIMITS = {
  /** Request line and headers together; over it: 431. */
  maxHeaderBytes: 32 * 1024,
  /**
   * What is still read and thrown away of a body that was refused, so that its sender gets to read
   * the answer.
   */
  maxDrainBytes: 8 * 1024 * 1024,
  drainMs: 5_000,
  /**
   * Requests on one connection that wait for the answer of an earlier one; with more of them it is
   * closed.
   */
  maxPipelinedRequests: 20,
  /**
   * Connections of clients; beyond it one on which nothing was ever sent, or that is idle, makes
   * room, or the new one is refused.
   */
  maxClientConnections: 10_000,
  /**
   * Answers of one account that clients have not read yet, on one node; beyond it those that have
   * waited longest are cut off.
   */
  maxUnreadAnswerBytes: 64 * 1024 * 1024,
  /**
   * What has arrived of bodies larger than smallBodyBytes that are not complete, in the same way.
   */
  maxUnfinishedBodyBytes: 128 * 1024 * 1024,
  /** Smaller answers do not count. */
  smallAnswerBytes: 16 * 1024,
  /** A client that takes nothing of its answer for so long is cut off. */
  answerStallMs: 30_000,
  /** From the first byte of a connection to the end of the headers, and to the end of the body. */
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 60_000,
  /**
   * An idle connection is kept longer than usual load balancers keep theirs (60 s), so that they
   * never write into a closing one.
   */
  keepAliveMs: 65_000,
  /**
   * A stopping node closes one that has been idle for so long: before that, the next request may be
   * on its way.
   */
  closingIdleMs: 250,
} as const;
