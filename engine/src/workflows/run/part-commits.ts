import { limitFault } from '@headwater/sandbox-runtime';
import type { ExceededLimit } from '@headwater/shared';
import type { Execution } from './execution.ts';
import {
  type ExecutionCommit,
  type ExecutionEnd,
  type ExecutionFault,
  type ExecutionWait,
  type FinalCommit,
  hasOnlyOwnRows,
  runCommitOf,
  type StepRow,
  type StoredSend,
} from '../../runs/index.ts';
import type { ExecutionRunnerOptions } from './runner-options.ts';
import type { StepRun } from './run-steps.ts';
import { createUnstoredSteps } from './unstored-steps.ts';
import { createWaitingBytes } from './waiting-bytes.ts';

/**
 * Writes of an execution while this node holds it. False: the lease was lost, and nothing was
 * written.
 */
export interface PartCommits {
  /** Stores the row soon, or with the next write. Returns at once, with the state known so far. */
  store(row: StepRow): boolean;
  /** Resolves when every step so far is durable. */
  stored(): Promise<boolean>;
  /** An exceeded limit: the execution may not wait and nothing was written, so it may still end. */
  park(last: StepRow, wait: Omit<ExecutionWait, 'position' | 'token' | 'bytes'>): Promise<boolean | ExceededLimit>;
  /**
   * Commits all output of the execution, and its end. `error`: the failure that the write itself
   * caused.
   */
  finish(last: StepRow | undefined, end: FinalOutcome): Promise<{ committed: boolean; error?: string }>;
  /** Steps that are not durable are left out of the end. */
  forgetSteps(): void;
  /** Sends and logs of steps are left out of the end too. */
  forgetOutput(): void;
  /** The step behind those that are stored. */
  next(): { position: number; run: StepRun };
}

export type FinalOutcome = Omit<ExecutionEnd, 'endedAtMs'> & { failure?: ExecutionFault };

export type PartCommitsOptions = Pick<
  ExecutionRunnerOptions,
  'committer' | 'commitRun' | 'waiting' | 'tokens' | 'sealer' | 'stats' | 'onCommitted' | 'spans' | 'nowMs'
>;

export function createPartCommits(options: PartCommitsOptions, execution: Execution): PartCommits {
  const { key, invocation, start, account, deployment } = execution;
  const sends = [...execution.sends];
  const logs = [...execution.logs];
  let endsWait = execution.again !== undefined;
  const waiting = createWaitingBytes(options.waiting, execution);
  let next = { position: execution.from, run: execution.again ?? { runs: 1, failures: 0 } };

  function commitOf(steps: readonly StepRow[]): ExecutionCommit {
    return { key, lease: invocation, steps, endsWait, start };
  }

  const unstored = createUnstoredSteps({
    commit: (rows) => options.committer.commit(commitOf(rows)),
    onStored(rows) {
      endsWait = false;
      waiting.set(0);
      for (const row of rows) {
        sends.push(...row.sends);
        logs.push(row.logs);
        next = { position: row.position + 1, run: { runs: 1, failures: 0 } };
      }
    },
  });

  return {
    store(row) {
      waiting.add(row);
      options.spans?.stepEnded(execution, row);
      return unstored.add(row);
    },
    stored: unstored.store,
    async park(last, wait) {
      const bytes = waiting.with(last, wait);
      const exceeded = waiting.exceededBy(bytes);
      if (exceeded !== undefined) return exceeded;
      const place = { position: last.position, token: options.tokens.make(key.id, last), bytes };
      const steps = [...(await unstored.take()), last];
      if (!(await options.committer.park({ ...commitOf(steps), wait: { ...wait, ...place } }))) return false;
      waiting.set(bytes);
      options.onCommitted('waiting');
      options.spans?.stepEnded(execution, last);
      return true;
    },
    async finish(last, { failure, ...outcome }) {
      const steps = [...(await unstored.take()), ...(last === undefined ? [] : [last])];
      const commit = { ...commitOf(steps), end: { ...outcome, endedAtMs: options.nowMs() } };
      const brought = { ...outputOf(sends, logs, steps), failure, maxEventHops: account.maxEventHops };
      const final = { execution: commit, invocation, deployment, sealer: options.sealer, ...brought };
      const { committed, exceeded } = await writeEnd(options, final);
      const error = exceeded === undefined ? failure?.fault.message : limitFault(exceeded).message;
      if (committed) waiting.set(0);
      if (committed) tellEnd(options, execution, last, { ...commit.end, ...(exceeded && { status: 'failed' }) });
      return { committed, ...(error === undefined ? {} : { error }) };
    },
    forgetSteps: unstored.drop,
    forgetOutput() {
      sends.length = 0;
      logs.length = 0;
    },
    next: () => next,
  };
}

function tellEnd(
  { stats, onCommitted, spans }: PartCommitsOptions,
  execution: Execution,
  last: StepRow | undefined,
  end: Pick<ExecutionEnd, 'status' | 'endedAtMs'>,
): void {
  const { accountId, workflowId } = execution.key;
  onCommitted(end.status);
  stats.add(accountId, [workflowId], end.status === 'failed' ? 'runsFailed' : 'runsOk', 1);
  if (last !== undefined) spans?.stepEnded(execution, last);
  spans?.executionEnded(execution, end);
}

async function writeEnd(
  { committer, commitRun }: PartCommitsOptions,
  final: FinalCommit,
): Promise<{ committed: boolean; exceeded?: ExceededLimit | undefined }> {
  if (hasOnlyOwnRows(final)) return { committed: await committer.commit(final.execution) };
  const { committed, exceeded } = await commitRun(await runCommitOf(final));
  return { committed: committed || (await committer.wasWritten(final.execution)), exceeded };
}

/** With that of the last steps. */
function outputOf(sends: readonly StoredSend[], logs: readonly string[], steps: readonly StepRow[]) {
  return {
    sends: [...sends, ...steps.flatMap((step) => step.sends)],
    logs: [...logs, ...steps.map((step) => step.logs)],
  };
}
