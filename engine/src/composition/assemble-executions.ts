import type { HistoryCount } from '../accounts/index.ts';
import type { Log } from '../contract/index.ts';
import type { Sql } from '../db/index.ts';
import { startStallClock } from '../fairness/index.ts';
import type { PropOpener } from '../props/index.ts';
import type { AccountBacklogs, RunCommitter, RunnerContext } from '../runs/index.ts';
import type { Sealer } from '../secrets/index.ts';
import {
  createExecutionActions,
  createExecutionCommitter,
  createExecutionRunner,
  isExecutionGone,
  createProgressReads,
  createWaitTokens,
  createWorkflowRuntimes,
  type ExecutionActions,
  type ExecutionCommitterOptions,
  type ExecutionRunnerOptions,
  type StepContext,
  type WorkflowRuntimes,
} from '../workflows/index.ts';

type FromRunner =
  | 'openEnvironment'
  | 'limits'
  | 'publicUrl'
  | 'release'
  | 'lease'
  | 'waiting'
  | 'stats'
  | 'onCommitted'
  | 'spans';

interface ExecutionNeeds extends Pick<ExecutionRunnerOptions, FromRunner> {
  sql: Sql;
  sealer: Sealer;
  opener: PropOpener;
  /** For runs of sources. */
  context: RunnerContext;
  /** For ends that bring events, sends, log lines or an error. */
  committer: RunCommitter;
  history: HistoryCount;
  backlogs: Pick<AccountBacklogs, 'queue'>;
  watch: NonNullable<ExecutionCommitterOptions['watch']>;
  log: Log;
}

export interface Executions {
  runtimes: WorkflowRuntimes;
  /** For tests of steps, which are no executions. */
  stepContext: StepContext;
  run: ReturnType<typeof createExecutionRunner>;
  actions: ExecutionActions;
  /** See ExecutionCommitter. */
  stopRetries(): void;
  drain(): Promise<void>;
}

/** Everything from a held invocation of a workflow to its commits. */
export function assembleExecutions(needs: ExecutionNeeds): Executions {
  const { sql, sealer, context, history, log } = needs;
  const { sandbox, fetch, callDataStore, prepare, nowMs, live, holdBundle } = context;
  const { openEnvironment, publicUrl, limits, release, lease, waiting, stats, onCommitted, spans } = needs;
  const runtimes = createWorkflowRuntimes(sql, needs.opener, holdBundle);
  const tokens = createWaitTokens(sealer);
  const committer = createExecutionCommitter({ sql, history, watch: needs.watch, log });
  const stalls = startStallClock();
  const stalledMs = stalls.totalMs;
  const ofSteps = { sandbox, fetch, callDataStore, prepare, nowMs, openEnvironment, sealer, stalledMs };
  const run = createExecutionRunner({
    ...ofSteps,
    sealer,
    tokens,
    runtimes,
    limits,
    release,
    lease,
    readProgress: createProgressReads(sql),
    isGone: (id) => isExecutionGone(sql, id),
    committer,
    waiting,
    live,
    stats,
    onCommitted,
    spans,
    commitRun: needs.committer.commit,
    publicUrl,
    log,
  });
  return {
    runtimes,
    stepContext: ofSteps,
    run,
    actions: createExecutionActions({ sql, tokens, runtimes, history, backlogs: needs.backlogs }),
    stopRetries: committer.stop,
    async drain() {
      stalls.stop();
      await committer.drain();
    },
  };
}
