export { trimAbandonedRuns } from './abandoned-runs.sql.ts';
export { createAbandonedRuns } from './abandoned-runs.ts';
export { addLiveLines } from './add-live-lines.sql.ts';
export { createBundles, type HeldBundle, type HoldBundle } from './bundles.ts';
export { hasFoundNoProcess, mayRepeatStarved, pauseAfterCrashMs } from './commit/after-loss.ts';
export { commitExecutions, commitExecutionsWithin } from './commit/commit-executions.sql.ts';
export type { RunCommit } from './commit/commit-plan.ts';
export type { CommittedRun } from './commit/commit-runs.sql.ts';
export { errorEventJson } from './commit/error-event.ts';
export type { EventRow } from './commit/event-rows.ts';
export {
  charsOf,
  type ExecutionCommit,
  type ExecutionEnd,
  type ExecutionKey,
  type ExecutionStart,
  type ExecutionWait,
  type RecordedProps,
  type StepRow,
  type StoredSend,
} from './commit/execution-rows.ts';
export { type ExecutionFault, type FinalCommit, hasOnlyOwnRows, runCommitOf } from './commit/final-commit.ts';
export { executionBytes } from './commit/history-bytes.ts';
export {
  LAST_LINE,
  linesOf,
  type LogCursor,
  type LoggedRun,
  type LogPlace,
  parseLogCursor,
} from './commit/log-lines.ts';
export { expirePublishedIds } from './commit/published-ids.sql.ts';
export type { PublishedEvent } from './commit/published.ts';
export { NOTHING_QUEUED } from './commit/queued.ts';
export { createRunCommitter, type RunCommitter, type RunCommitterOptions } from './commit/run-committer.ts';
export { type AccountBacklogs, startAccountBacklogs } from './counts/account-backlogs.ts';
export { type AccountSums, startAccountSums } from './counts/account-sums.ts';
export { countListeners, readAccountDbSizes, readBacklogs, readWaitingBytes } from './counts/counts.sql.ts';
export { createListenerCounts } from './counts/listener-counts.ts';
export { createDbOverlay } from './db-overlay.ts';
export { createDispatcher, type Dispatcher, type DispatcherOptions } from './dispatcher.ts';
export { createIntake, type Intake } from './intake.ts';
export { createInvocationRunner } from './invocation-runner.ts';
export {
  addRunLanes,
  type Claim,
  claimInvocations,
  countCrash,
  deleteOrphanedInvocations,
  insertInvocationRows,
  type NewInvocation,
  placeOf,
  propNameOf,
  releaseInvocations,
  runLane,
} from './invocations.sql.ts';
export { limitTimeShare } from './limit-time-share.ts';
export { createLiveLines, type LiveLines, type LiveTry } from './live-lines.ts';
export { kept, NODE_STOPS } from './kept-requests.ts';
export { LOST, runIsLost } from './lost-runs.ts';
export { noRoomToAnswer } from './no-room-to-answer.ts';
export { createRunPreparer } from './prepare-run.ts';
export { pageRuns, readRuns } from './read-runs.sql.ts';
export { logsWithoutSecrets, outcomeWithoutSecrets } from './redact-run.ts';
export { createReplayer, type ReplayerOptions } from './replays/replay-events.ts';
export { createReplays } from './replays/replays.ts';
export { resolveApps } from './resolve-apps.ts';
export { failed } from './run-in-sandbox.ts';
export { type RunnerContext, type RunResult, type RunTask, runTask } from './run-invocation.ts';
export { runLimits, wallLimitOf } from './run-limits.ts';
export { readDbValue, readSourceAccount, readSourceRuntime } from './source-runtime.sql.ts';
export { createSourceRuntimes, runtimeOf, type SourceRuntime, type SourceRuntimes } from './source-runtime.ts';
export { startTelling } from './tell-notices.ts';
export { createWaitingClients, type WaitingClients } from './waiting-clients.ts';
