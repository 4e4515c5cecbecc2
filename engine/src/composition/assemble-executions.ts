import type { AccountBacklogs } from '../runs/counts/account-backlogs.ts';
import type { AccountSums } from '../runs/counts/account-sums.ts';
import type { Log } from '../contract/log.ts';
import type { Watchdog } from '../db/watchdog.ts';
import { startStallClock } from '../fairness/stall-clock.ts';
import type { EngineMetrics } from '../observe/metrics.ts';
import type { Sealer } from '../secrets/seal.ts';
import type { PropOpener } from '../props/run-props.ts';
import type { Sql } from '../db/database.ts';
import type { HistoryCount } from '../accounts/history-row-bytes.ts';
import type { DispatcherOptions } from '../runs/dispatcher.ts';
import type { RunCommitter } from '../runs/commit/run-committer.ts';
import type { RunnerContext } from '../runs/run-invocation.ts';
import { createProgressReads } from '../workflows/run/read-execution-progress.sql.ts';
import { createWorkflowRuntimes, type WorkflowRuntimes } from '../workflows/run/deployment-runtime.ts';
import { createExecutionActions, type ExecutionActions } from '../workflows/run/execution-actions.ts';
import { createExecutionCommitter } from '../workflows/run/execution-committer.ts';
import { createExecutionRunner } from '../workflows/run/execution-runner.ts';
import type { ExecutionRunnerOptions } from '../workflows/run/runner-options.ts';
import type { StepContext } from '../workflows/run/run-step.ts';
import { createWaitTokens } from '../workflows/run/wait-token.ts';

export interface ExecutionParts {
  runtimes: WorkflowRuntimes;
  /** For tests of steps, which are no executions. */
  stepContext: StepContext;
  run: ReturnType<typeof createExecutionRunner>;
  actions: ExecutionActions;
  /** See ExecutionCommitter. */
  stopRetries(): void;
  drain(): Promise<void>;
}

interface ExecutionNeeds extends Pick<ExecutionRunnerOptions, 'openEnvironment' | 'limits' | 'publicUrl'> {
  sealer: Sealer;
  sql: Sql;
  opener: PropOpener;
  metrics: Pick<EngineMetrics, 'executionCommitted'>;
  waiting: Pick<AccountSums, 'of' | 'add'>;
  history: HistoryCount;
  stats: ExecutionRunnerOptions['stats'];
  backlogs: Pick<AccountBacklogs, 'queue'>;
  watchdog: Pick<Watchdog, 'part'>;
  log: Log;
}

/**
 * Everything from a held invocation of a workflow to its commits. `committer`: of ends that bring
 * events and the like.
 */
export function assembleExecutions(
  parts: ExecutionNeeds,
  context: RunnerContext,
  {
    committer,
    release,
    lease,
  }: { committer: RunCommitter; release: DispatcherOptions['release']; lease: ExecutionRunnerOptions['lease'] },
): ExecutionParts {
  const { sql, history, log } = parts;
  const runtimes = createWorkflowRuntimes(sql, parts.opener, context.holdBundle);
  const steps = createExecutionCommitter({ sql, history, watch: parts.watchdog.part('commits of steps'), log });
  const stalls = startStallClock();
  const stepContext = {
    stalledMs: stalls.totalMs,
    sandbox: context.sandbox,
    fetch: context.fetch,
    callDataStore: context.callDataStore,
    prepare: context.prepare,
    nowMs: context.nowMs,
    openEnvironment: parts.openEnvironment,
    sealer: parts.sealer,
  };
  const tokens = createWaitTokens(parts.sealer);
  const run = createExecutionRunner({
    ...stepContext,
    tokens,
    runtimes,
    limits: parts.limits,
    release,
    lease,
    readProgress: createProgressReads(sql),
    committer: steps,
    waiting: parts.waiting,
    live: context.live,
    log,
    stats: parts.stats,
    onCommitted: parts.metrics.executionCommitted,
    commitRun: committer.commit,
    publicUrl: parts.publicUrl,
  });
  return {
    runtimes,
    stepContext,
    run,
    actions: createExecutionActions({ sql, tokens, runtimes, history, backlogs: parts.backlogs }),
    stopRetries: steps.stop,
    async drain() {
      stalls.stop();
      await steps.drain();
      await committer.drain();
    },
  };
}
