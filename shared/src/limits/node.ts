import { defineLimits } from './define-limits.ts';

/** One node: readiness checks, its database, and shutdown. */
// biome-ignore format: one limit a line
export const NODE_LIMITS = defineLimits({
  readyCheckMs: { default: 2_000, unit: 'ms', scope: 'node', why: 'how long `/readyz` waits for the database' },
  databaseSilenceMs: { default: 30_000, unit: 'ms', scope: 'node', why: 'the server ends a transaction in which its node is silent for so long; so long work waits for a free connection' },
  maxStatementMs: { default: 60_000, unit: 'ms', scope: 'node', why: 'the server ends a statement that takes longer (`statement_timeout`)' },
  smallBatchChars: { default: 256 * 1024, unit: 'characters', scope: 'account', why: 'characters in one answer of the REST API, one turn of a lane, or one commit that cost no pause, while others are here' },
  batchCharsPerSecond: { default: 8 * 1024 * 1024, unit: 'characters per second', scope: 'account', why: 'pace at which larger ones go on, while others are here; an answer counts what was read for it, shown or not' },
  databaseProbeMs: { default: 3_000, unit: 'ms', scope: 'node', why: 'a connection that owes an answer for so long is given up, unless the server says that it works on it' },
  maxCommitMs: { default: 90_000, unit: 'ms', scope: 'node', why: 'a commit of many that takes longer is given up with its items, and `/readyz` says so' },
  databaseConnectMs: { default: 5_000, unit: 'ms', scope: 'node', why: 'connecting to the database' },
  databaseAwayWaitMs: { default: 3_000, unit: 'ms', scope: 'node', why: 'how long work waits for a database that is away; once it has been away for longer, work is refused at once' },
  shutdownMs: { default: 10_000, unit: 'ms', scope: 'node', why: 'from the first signal to the forced end' },
  secondSignalMs: { default: 3_000, unit: 'ms', scope: 'node', why: 'how long after the first signal another one ends the process at once; npm passes on a signal that came to the whole group' },
  minWorkerPauseMs: { default: 250, unit: 'ms', scope: 'node', why: 'before a worker that ended by itself is started again; twice as long each time' },
  maxWorkerPauseMs: { default: 10_000, unit: 'ms', scope: 'node', why: 'the longest such pause; a worker that lived for a minute begins with the shortest' },
  workersShutdownMs: { default: 13_000, unit: 'ms', scope: 'node', why: 'from the first signal to the forced end where a process runs several workers, each of which has `shutdownMs`' },
  interruptedStartMs: { default: 2_000, unit: 'ms', scope: 'node', why: 'how long after a signal a start that waits for `DATABASE_URL` is ended' },
});
