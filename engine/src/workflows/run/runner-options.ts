import type { LimitsCache } from '../../accounts/limits-cache.ts';
import type { RunCommit } from '../../runs/commit/commit-plan.ts';
import type { LeaseCheck } from '../../db/lease-check.ts';
import type { DispatcherOptions } from '../../runs/dispatcher.ts';
import type { AccountSums } from '../../runs/counts/account-sums.ts';
import type { LiveLines } from '../../runs/live-lines.ts';
import type { Log } from '../../contract/log.ts';
import type { ExecutionSpans } from '../../contract/spans.ts';
import type { Sealer } from '../../secrets/seal.ts';
import type { CommittedRun } from '../../runs/commit/commit-runs.sql.ts';
import type { StatCount } from '../../events/stat-meter.ts';
import type { ExecutionProgress } from './read-execution-progress.sql.ts';
import type { WorkflowRuntimes } from './deployment-runtime.ts';
import type { ExecutionCommitter } from './execution-committer.ts';
import type { ExecutionEnd } from '../../runs/commit/execution-rows.ts';
import type { StepContext } from './run-step.ts';
import type { WaitTokens } from './wait-token.ts';

export interface ExecutionRunnerOptions extends StepContext {
  sealer: Pick<Sealer, 'seal' | 'open' | 'rewrap' | 'currentPrefix'>;
  tokens: WaitTokens;
  runtimes: WorkflowRuntimes;
  limits: Pick<LimitsCache, 'get'>;
  release: DispatcherOptions['release'];
  /** Checks the lease of this node. */
  lease: LeaseCheck;
  readProgress: (executionId: string) => Promise<ExecutionProgress>;
  committer: ExecutionCommitter;
  /** Bytes of waiting executions, by account. */
  waiting: Pick<AccountSums, 'of' | 'add'>;
  /** Commits ends with events, sends, log lines or an error. */
  commitRun: (run: RunCommit) => Promise<CommittedRun>;
  stats: StatCount;
  /** How an execution ended, or that it waits. */
  onCommitted: (status: ExecutionEnd['status'] | 'waiting') => void;
  /** Default: nothing is recorded. */
  spans?: ExecutionSpans | undefined;
  live: Pick<LiveLines, 'begin'>;
  log: Log;
  /** Public URL of this instance; URLs that resume and cancel begin with it. */
  publicUrl: string;
}
