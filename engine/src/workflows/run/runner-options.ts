import type { LimitsCache } from '../../accounts/index.ts';
import type {
  AccountSums,
  CommittedRun,
  DispatcherOptions,
  ExecutionEnd,
  LiveLines,
  RunCommit,
} from '../../runs/index.ts';
import type { LeaseCheck } from '../../db/index.ts';
import type { ExecutionSpans, Log } from '../../contract/index.ts';
import type { Sealer } from '../../secrets/index.ts';
import type { StatCount } from '../../events/index.ts';
import type { ExecutionProgress } from './read-execution-progress.sql.ts';
import type { WorkflowRuntimes } from './deployment-runtime.ts';
import type { ExecutionCommitter } from './execution-committer.ts';
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
  /** It was cancelled, or its workflow was deleted. */
  isGone: (executionId: string) => Promise<boolean>;
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
