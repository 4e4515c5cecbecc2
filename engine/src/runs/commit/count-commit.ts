import type { CommitPlan, RunCommit } from './commit-plan.ts';
import type { StatCount } from '../../events/index.ts';

/** Channels of the engine itself: `$errors`, `$logs`. */
const BUILT_IN = /^\$/;

/**
 * Counts what a commit has stored: emitted events, events given to sources to run, and ends of
 * runs.
 */
export function countCommittedStats(plan: CommitPlan, stats: StatCount): void {
  for (const { accountId, emitterId, channel } of plan.events) {
    if (!BUILT_IN.test(channel)) stats.add(accountId, [emitterId], 'emitted', 1);
  }
  for (const { sourceId, event } of plan.invocations) stats.add(event.accountId, [sourceId], 'received', 1);
  for (const { events, sourceIds } of plan.fanOuts) {
    for (const { event, heardKey } of events) {
      for (const sourceId of sourceIds.get(heardKey) ?? []) stats.add(event.accountId, [sourceId], 'received', 1);
    }
  }
  for (const [run, { record }] of plan.runs) {
    if (!isEndOfRun(run)) continue;
    stats.add(run.accountId, [run.sourceId], record?.errorCode === undefined ? 'runsOk' : 'runsFailed', 1);
  }
}

/**
 * Hooks are not runs, ends of executions are counted with their steps, and a dropped invocation has
 * not run.
 */
export function isEndOfRun({ final, invocation, execution, ran, abandoned }: RunCommit): boolean {
  if (!final || invocation === undefined || execution !== undefined) return false;
  return ran !== undefined || abandoned !== undefined;
}
