import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BatcherWatch,
  createBatcher,
  growingInterval,
  createJobCrowds,
  failsEachTime,
  MAX_LOCK_MS,
  mayBeOneItems,
  type Sql,
  wasHeldUp,
} from '../../db/index.ts';
import type { Log } from '../../contract/index.ts';
import { charsOf, commitExecutionsWithin, executionBytes, type ExecutionCommit } from '../../runs/index.ts';
import type { HistoryCount } from '../../accounts/index.ts';
import { isExecutionCommitted } from './read-execution-progress.sql.ts';
import { parkExecutions } from './park-executions.sql.ts';

export interface ExecutionCommitterOptions {
  sql: Sql;
  history: HistoryCount;
  watch?: BatcherWatch;
  /** Pause between two tries. Default: sleeps. */
  pause?: (ms: number) => Promise<void>;
  log: Log;
}

export interface ExecutionCommitter {
  /**
   * Makes steps durable, and ends of executions that write only their own rows. False: the lease
   * was lost, and nothing was written. Rejects with an error of `failsEachTime` if Postgres refuses
   * the data, or no statement can be made of it.
   */
  commit(commit: ExecutionCommit): Promise<boolean>;
  /** The same for executions that wait from now on. */
  park(commit: ExecutionCommit): Promise<boolean>;
  /**
   * Whether a commit that finds its lease ended has ended it itself, in a try whose answer was
   * lost.
   */
  wasWritten(commit: ExecutionCommit): Promise<boolean>;
  /** The node stops: no commit is tried for ever any more. */
  stop(): void;
  drain(): Promise<void>;
}

const MAX_BATCH = 256;
/**
 * Characters of step output in one commit. They take some tens of milliseconds of the database, and
 * all other commits wait.
 */
const MAX_BATCH_CHARS = 2 * 1024 * 1024;
/** Maximum of one account while others are active. */
const MAX_TENANT_CHARS = 512 * 1024;
/** Other executions share a commit that starts this much later; the fewer there are, the sooner. */
const INTERVAL_MS = growingInterval(3, 1 / 16);
/** 0.1 + 0.2 + … seconds, at most MAX_PAUSE_MS between two tries. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;
/**
 * Tries of a stopping node: about 25 s without an answer from the database. Then the execution is
 * given back.
 */
const MAX_LAST_TRIES = 9;

/** Returns the commits that were written. `maxLockMs`: see setLockTimeout. */
type Write = (
  sql: Sql,
  commits: readonly ExecutionCommit[],
  maxLockMs: number | undefined,
) => Promise<Set<ExecutionCommit>>;

/** Group commit of all executions of the node. */
export function createExecutionCommitter(options: ExecutionCommitterOptions): ExecutionCommitter {
  const { sql, history, watch, pause = sleep, log } = options;
  const batcherOf = (write: Write) =>
    createBatcher<ExecutionCommit, boolean>({
      maxBatch: MAX_BATCH,
      minIntervalMs: INTERVAL_MS,
      ...(watch === undefined ? {} : { watch }),
      isItemsFault: mayBeOneItems,
      isHeldUp: wasHeldUp,
      share: {
        tenantOf: ({ key }) => key.accountId,
        weightOf: charsOf,
        maxWeight: MAX_BATCH_CHARS,
        maxTenantWeight: MAX_TENANT_CHARS,
        charsOf,
      },
      async commit(commits, patience) {
        const ours = await write(sql, commits, MAX_LOCK_MS[patience]);
        for (const one of commits) if (ours.has(one)) history.add(one.key.accountId, executionBytes(one));
        return commits.map((one) => ours.has(one));
      },
    });
  const steps = batcherOf(commitExecutionsWithin);
  const crowds = createJobCrowds();
  const waits = batcherOf((db, commits, maxLockMs) => parkExecutions(db, commits, crowds, maxLockMs));

  let isStopping = false;
  const wasWritten = (commit: ExecutionCommit) => isExecutionCommitted(sql, commit);

  /**
   * Retries until the step is stored, however long the database is away: running it again would
   * repeat its external effects. If the answer to a successful commit was lost, a retry writes the
   * same, or finds that this commit ended the lease.
   */
  async function withRetries(commit: ExecutionCommit, add: (commit: ExecutionCommit) => Promise<boolean>) {
    for (let tries = 1; ; tries++) {
      try {
        const isOurs = await add(commit);
        return isOurs || (tries > 1 && (await wasWritten(commit)));
      } catch (error) {
        if (failsEachTime(error) || (isStopping && tries >= MAX_LAST_TRIES)) throw error;
        log.warn({ execution: commit.key.id, tries, err: error }, 'a step could not be stored and is tried again');
        await pause(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tries - 1)));
      }
    }
  }

  return {
    commit: (commit) => withRetries(commit, steps.add),
    park: (commit) => withRetries(commit, waits.add),
    wasWritten,
    stop() {
      isStopping = true;
    },
    async drain() {
      await steps.drain();
      await waits.drain();
    },
  };
}
