import type { AccountLimits } from '@headwater/shared';
import type { RunCommit } from '../../engine/src/runs/commit/commit-plan.ts';
import type { HeldInvocation } from '../../engine/src/events/invocation.ts';
import type { Sealer } from '../../engine/src/secrets/seal.ts';
import { type CommittedRun, commitRuns } from '../../engine/src/runs/commit/commit-runs.sql.ts';
import type { Sql } from '../../engine/src/db/database.ts';
import type { ExecutionProgress } from '../../engine/src/workflows/run/read-execution-progress.sql.ts';
import { releaseInvocations } from '../../engine/src/runs/invocations.sql.ts';
import type { WorkflowRuntimes } from '../../engine/src/workflows/run/deployment-runtime.ts';
import { createExecution } from '../../engine/src/workflows/run/execution.ts';
import {
  createExecutionCommitter,
  type ExecutionCommitter,
} from '../../engine/src/workflows/run/execution-committer.ts';
import type { ExecutionEnd, StepRow } from '../../engine/src/runs/commit/execution-rows.ts';
import { createPartCommits, type FinalOutcome, type PartCommits } from '../../engine/src/workflows/run/part-commits.ts';
import type { WaitTokens } from '../../engine/src/workflows/run/wait-token.ts';
import type { StepOutcome } from './execution-moves.ts';
import { DONE_STEP } from './executions.ts';
import { testLog } from './logs.ts';
import type { NodeIdentity } from './model-nodes.ts';

/*
 * Executions in the memory of a node, and the run of their steps. It uses the product's commits,
 * but the model chooses the outcome of each step. A commit without an answer pauses until the model
 * lets it retry, or the node is gone.
 */

export interface Part {
  invocation: HeldInvocation;
  /** A commit of it is under way. */
  isBusy: boolean;
  /** Absent until its progress is read. */
  commits?: PartCommits;
  /** Steps of its version. */
  length?: number;
}

/** The answer of a commit. */
export interface Answer {
  id: string;
  kind: StepOutcome['kind'] | 'ends';
  /** Names the run of the step; absent where no step was left to run. */
  value: string | undefined;
  written: boolean;
}

export interface ExecutionNode extends NodeIdentity {
  /** By `partKey`. */
  parts: Map<string, Part>;
  committer: ExecutionCommitter;
  commitRun: (run: RunCommit) => Promise<CommittedRun>;
  pauses: Pauses;
  /** Since they were last read. */
  answers: Answer[];
  /** Executions given back since then, with their errors. */
  failures: { id: string; error: Error }[];
}

export const partKey = ({ id, claim, leasedBy }: HeldInvocation) => `${id} ${leasedBy} ${claim}`;

/** Work that may pause: the model goes on once all of it has ended or pauses. */
export interface Pauses {
  pause(): Promise<void>;
  add(work: Promise<void>): void;
  goOn(): void;
  idle(): Promise<void>;
  count(): number;
}

function createPauses(): Pauses {
  let working = 0;
  let paused: (() => void)[] = [];
  let wake: () => void = () => undefined;
  const look = () => {
    if (working === paused.length) wake();
  };
  return {
    pause: () =>
      new Promise((resolve) => {
        paused.push(resolve);
        look();
      }),
    add(work) {
      working++;
      void work.finally(() => {
        working--;
        look();
      });
    },
    goOn() {
      const all = paused;
      paused = [];
      for (const resolve of all) resolve();
    },
    idle: () =>
      new Promise((resolve) => {
        wake = resolve;
        look();
      }),
    count: () => paused.length,
  };
}

export interface PartRunsOptions {
  sql: Sql;
  runtimes: WorkflowRuntimes;
  tokens: WaitTokens;
  sealer: Sealer;
  account: AccountLimits;
  readProgress: (id: string) => Promise<ExecutionProgress>;
}

export function createPartRuns(options: PartRunsOptions) {
  const { sql } = options;
  let runs = 0;
  // No two steps begin or end in the same millisecond: a commit finds its own writes by that time.
  let lastMs = Date.now();
  const nowMs = () => ++lastMs;

  /** Undefined: its workflow is gone. */
  async function begin(node: ExecutionNode, part: Part): Promise<PartCommits | undefined> {
    if (part.commits !== undefined) return part.commits;
    const { invocation } = part;
    const workflow = await options.runtimes.state.get(invocation.sourceId);
    if (workflow === undefined || workflow.deleted) return undefined;
    const progress = invocation.claim > 1 ? await options.readProgress(invocation.id) : { steps: [] };
    const deployment = await options.runtimes.deployments.get(progress.deploymentId ?? workflow.deploymentId);
    if (deployment === undefined) return undefined;
    const execution = createExecution({ ...options, workflow, deployment, invocation, progress, nowMs: nowMs() });
    part.length = deployment.steps.length;
    part.commits = createPartCommits(
      {
        ...options,
        committer: node.committer,
        commitRun: node.commitRun,
        waiting: { of: () => 0, add: () => undefined },
        stats: { add: () => undefined },
        onCommitted: () => undefined,
        nowMs,
      },
      execution,
    );
    return part.commits;
  }

  function rowOf(
    { id, leasedBy, claim }: HeldInvocation,
    { emits }: StepOutcome,
    position: number,
    ran: number,
  ): StepRow {
    return {
      ...DONE_STEP,
      position,
      namespace: `step${position}`,
      runs: ran,
      value: JSON.stringify(`${leasedBy} ${claim} ${++runs}`),
      sends: emits ? [{ kind: 'emit', payload: `{"raw_event":"${id}"}` }] : [],
      startedAtMs: nowMs(),
      endedAtMs: nowMs(),
    };
  }

  async function runStep(node: ExecutionNode, part: Part, outcome: StepOutcome): Promise<Answer | undefined> {
    const commits = await begin(node, part);
    if (commits === undefined) return undefined;
    const { id } = part.invocation;
    let { position, run } = commits.next();
    const finish = async (
      last: StepRow | undefined,
      status: ExecutionEnd['status'],
      more: Partial<FinalOutcome> = {},
    ) => {
      const { committed: written } = await commits.finish(last, { status, ...more });
      return { id, kind: 'ends' as const, value: last?.value, written };
    };
    if (position === part.length) return finish(undefined, 'succeeded');
    if (outcome.isSecond && outcome.kind !== 'done' && position + 1 < (part.length ?? 0)) {
      commits.store(rowOf(part.invocation, outcome, position, run.runs));
      position += 1;
      run = { runs: 1, failures: 0 };
    }
    const row = rowOf(part.invocation, outcome, position, run.runs);
    const fault = { code: 'RUN_FAILED' as const, message: 'It failed' };
    const error = JSON.stringify(fault);
    const park = async (last: StepRow, kind: 'delay' | 'suspend' | 'rerun' | 'retry', failures: number) => {
      const wait = { kind, runs: run.runs, failures, wakeAtMs: Date.now() + outcome.ms };
      return { id, kind: outcome.kind, value: row.value, written: (await commits.park(last, wait)) === true };
    };
    switch (outcome.kind) {
      case 'done':
        if (position + 1 === part.length) return finish(row, 'succeeded');
        commits.store(row);
        return { id, kind: outcome.kind, value: row.value, written: await commits.stored() };
      case 'exits':
        return finish(row, 'exited');
      case 'fails':
        return finish({ ...row, status: 'failed', error }, 'failed', {
          error,
          failure: { fault, step: { id: 'c_1', namespace: row.namespace } },
        } as unknown as Partial<FinalOutcome>);
      case 'delays':
        return park({ ...row, status: 'waiting' }, 'delay', 0);
      case 'suspends':
        return park({ ...row, status: 'waiting' }, 'suspend', 0);
      case 'reruns':
        return park({ ...row, status: 'rerun' }, 'rerun', run.failures);
      case 'retries':
        return park({ ...row, status: 'failed', error }, 'retry', run.failures + 1);
    }
  }

  /** Gives back a part that fails, as the dispatcher does. */
  async function runPart(node: ExecutionNode, part: Part, outcome: StepOutcome): Promise<void> {
    part.isBusy = true;
    let answer: Answer | undefined;
    let failure: unknown;
    try {
      answer = await runStep(node, part, outcome);
    } catch (error) {
      failure = error;
    }
    part.isBusy = false;
    if (answer !== undefined) node.answers.push(answer);
    if (answer?.kind === 'done' && answer.written) return;
    node.parts.delete(partKey(part.invocation));
    if (failure === undefined) return;
    node.failures.push({ id: part.invocation.id, error: failure as Error });
    await releaseInvocations(sql, part.invocation.leasedBy, [part.invocation]).catch(() => undefined);
  }

  async function commitWithPauses(run: RunCommit, nodeId: () => string, pauses: Pauses): Promise<CommittedRun> {
    for (;;) {
      try {
        const commit = { nodeId: nodeId(), deliveryCapacity: () => 0, runCapacity: () => 0, nowMs };
        const [committed] = await commitRuns(sql, [run], commit);
        return committed as CommittedRun;
      } catch {
        await pauses.pause();
      }
    }
  }

  return {
    withMemory(identity: NodeIdentity): ExecutionNode {
      const pauses = createPauses();
      const { pause } = pauses;
      const node: ExecutionNode = {
        ...identity,
        parts: new Map(),
        committer: createExecutionCommitter({ sql, history: { add: () => undefined }, pause, log: testLog }),
        commitRun: (run) => commitWithPauses(run, () => node.id, pauses),
        pauses,
        answers: [],
        failures: [],
      };
      return node;
    },

    /** Runs steps of several executions, whose commits may share a batch. */
    async run(node: ExecutionNode, steps: readonly StepOutcome[], goesOn = false): Promise<void> {
      if (goesOn) node.pauses.goOn();
      for (const outcome of steps) {
        const free = [...node.parts.values()].filter(({ isBusy }) => !isBusy);
        const part = free[outcome.which % Math.max(1, free.length)];
        if (part !== undefined) node.pauses.add(runPart(node, part, outcome));
      }
      await node.pauses.idle();
    },

    /** The pauses of its commits are over. */
    async tryAgain(node: ExecutionNode): Promise<void> {
      node.pauses.goOn();
      await node.pauses.idle();
    },
  };
}
