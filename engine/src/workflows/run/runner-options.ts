import type { LimitsCache } from '../../accounts/limits-cache.ts';
import type { RunCommit } from '../../events/commit-plan.ts';
import type { LeaseCheck } from '../../store/lease-check.ts';
import type { DispatcherOptions } from '../../run/dispatcher.ts';
import type { AccountSums } from '../../run/account-sums.ts';
import type { LiveLines } from '../../run/live-lines.ts';
import type { Log } from '../../log.ts';
import type { Sealer } from '../../secrets/seal.ts';
import type { CommittedRun } from '../../store/commit-runs.ts';
import type { StatCount } from '../../stats/stat-meter.ts';
import type { ExecutionProgress } from '../../store/read-execution-progress.ts';
import type { WorkflowRuntimes } from './deployment-runtime.ts';
import type { ExecutionCommitter } from './execution-committer.ts';
import type { ExecutionEnd } from './execution-rows.ts';
import type { StepContext } from './run-step.ts';
import type { WaitTokens } from './wait-token.ts';

export interface ExecutionRunnerOptions extends StepContext {
  sealer: Pick<Sealer, 'seal' | 'open' | 'rewrap' | 'currentPrefix'>;
  tokens: WaitTokens;
  runtimes: WorkflowRuntimes;
  limits: Pick<LimitsCache, 'get'>;
  release: DispatcherOptions['release'];
  /** Of this node. */
  lease: LeaseCheck;
  readProgress: (executionId: string) => Promise<ExecutionProgress>;
  committer: ExecutionCommitter;
  /** What executions that wait have, by account. */
  waiting: Pick<AccountSums, 'of' | 'add'>;
  /** Of ends that bring events, sends, log lines or an error. */
  commitRun: (run: RunCommit) => Promise<CommittedRun>;
  stats: StatCount;
  /** How an execution ended, or that it waits. */
  onCommitted: (status: ExecutionEnd['status'] | 'waiting') => void;
  live: Pick<LiveLines, 'begin'>;
  log: Log;
  /** Of this instance, as it is seen from outside: URLs that resume and cancel begin with it. */
  publicUrl: string;
}
