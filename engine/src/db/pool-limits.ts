import { LIMITS } from '@headwater/shared';

export interface PoolLimits {
  /**
   * Without an answer for so long, another connection finds out whether the database still answers.
   */
  probeAfterMs: number;
  connectMs: number;
  /** Work waits so long for a database that is away, and from then on not at all. */
  maxAwayWaitMs: number;
  /**
   * From the statement to its answer. The server ends one before; this is for a connection that is
   * dead.
   */
  maxStatementMs: number;
  /** Work waits so long while others have all connections. */
  maxWaitMs: number;
}

export const POOL_LIMITS: PoolLimits = {
  probeAfterMs: LIMITS.databaseProbeMs,
  connectMs: LIMITS.databaseConnectMs,
  maxAwayWaitMs: LIMITS.databaseAwayWaitMs,
  maxStatementMs: LIMITS.maxStatementMs + LIMITS.databaseConnectMs,
  maxWaitMs: LIMITS.databaseSilenceMs,
};
