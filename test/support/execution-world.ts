import { accountLimits, newId } from '@headwater/shared';
import { createPostponedLanes } from '../../engine/src/db/jobs/postponed-lanes.ts';
import { runSourceLane } from '../../engine/src/cluster/jobs/run-source.ts';
import { createWaker } from '../../engine/src/cluster/jobs/lanes.ts';
import { createUnheldLeases } from '../../engine/src/cluster/unheld-leases.ts';
import type { Dispatcher } from '../../engine/src/runs/dispatcher.ts';
import type { HeldInvocation } from '../../engine/src/events/invocation.ts';
import { fixedKeys } from '../../engine/src/secrets/master-key.ts';
import { createSealer } from '../../engine/src/secrets/seal.ts';
import { changeWorkflow } from '../../engine/src/workflows/change-workflow.sql.ts';
import type { Sql } from '../../engine/src/db/database.ts';
import { cancelWaitingExecutions, deleteWorkflow } from '../../engine/src/workflows/delete-workflow.sql.ts';
import { insertInTurn } from '../../engine/src/workflows/controls/insert-in-turn.sql.ts';
import { insertInvocations, releaseInvocations } from '../../engine/src/runs/invocations.sql.ts';
import { createProgressReads } from '../../engine/src/workflows/run/read-execution-progress.sql.ts';
import { requeueOverdueWaits } from '../../engine/src/workflows/run/wake-executions.sql.ts';
import { createTurns } from '../../engine/src/workflows/controls/turns.ts';
import { createWorkflowRuntimes } from '../../engine/src/workflows/run/deployment-runtime.ts';
import { createExecutionActions } from '../../engine/src/workflows/run/execution-actions.ts';
import { createWaitTokens } from '../../engine/src/workflows/run/wait-token.ts';
import { limitsOf } from './delivery-world.ts';
import type { ExecutionMove } from './execution-moves.ts';
import { createPartRuns, type ExecutionNode, partKey } from './execution-parts.ts';
import { type ExecutionRows, readExecutionRows } from './execution-states.ts';
import { testLog } from './logs.ts';
import { createNodeMoves, type JobState, workJob } from './model-nodes.ts';
import { insertTurnWorkflow } from './turn-rows.ts';

/*
 * Nodes that run executions of three workflows with the product's functions. One workflow starts
 * its executions in turn. All statements use a connection that can be cut at any of them. A commit
 * with a lost answer waits in its node for a retry.
 */

/** Steps of each workflow. */
export const STEPS = 3;
/** Concurrency limit of the workflow that takes turns. */
export const CONCURRENCY = 2;

export interface ExecutionWorld {
  /** The first one takes turns, the last one may be deleted. */
  workflows: string[];
  nodes: ExecutionNode[];
  read(): Promise<ExecutionRows>;
  moves: ExecutionMoves;
  tokenOf(id: string, place: { position: number; runs: number }): string;
  end(): Promise<void>;
}

type ExecutionMoves = ReturnType<typeof createMoves>;

const sealer = createSealer(fixedKeys([{ id: 'a1b2c3d4e5f6', key: Buffer.alloc(32, 7) }]));
const tokens = createWaitTokens(sealer);

/** `cutOff`: the client with the connection that is cut. */
export async function createExecutionWorld(
  sql: Sql,
  cutOff: Sql,
  { accountId, nodeCount, workflowCount }: { accountId: string; nodeCount: number; workflowCount: number },
): Promise<ExecutionWorld> {
  const workflows: string[] = [];
  for (let i = 0; i < workflowCount; i++) workflows.push(await insertSteps(sql, accountId, i === 0));
  const nodes: ExecutionNode[] = [];
  const moves = createMoves(cutOff, { accountId, nodes, workflows });
  for (let i = 0; i < nodeCount; i++) await moves.start(sql);
  return {
    workflows,
    nodes,
    moves,
    read: () => readExecutionRows(sql, workflows),
    tokenOf: tokens.make,
    async end() {
      await sql`delete from nodes`;
      await sql`delete from graphile_worker._private_jobs`;
      await sql`truncate invocations, executions, execution_steps, execution_waits, events`;
    },
  };
}

async function insertSteps(sql: Sql, accountId: string, inTurn: boolean): Promise<string> {
  const id = await insertTurnWorkflow(sql, accountId, { concurrency: CONCURRENCY });
  const steps = Array.from({ length: STEPS }, (_, position) => ({
    id: newId('step'),
    namespace: `step${position}`,
    componentId: 'sc_none',
    configuredProps: {},
    dynamicProps: [],
    env: [],
  }));
  await sql`update deployments set steps = ${JSON.stringify(steps)}::text::jsonb where workflow_id = ${id}`;
  await sql`update emitters set in_turn = ${inTurn} where id = ${id}`;
  return id;
}

interface Place {
  accountId: string;
  nodes: ExecutionNode[];
  workflows: string[];
}

/** Each as a process does it: its memory changes once the database has answered. */
function createMoves(sql: Sql, { accountId, nodes, workflows }: Place) {
  const noBundles = () => Promise.reject(new Error('No step is run'));
  const runtimes = createWorkflowRuntimes(sql, { open: () => undefined } as never, noBundles);
  const parts = createPartRuns({
    sql,
    runtimes,
    tokens,
    sealer,
    account: accountLimits(),
    readProgress: createProgressReads(sql),
  });
  const wake = createWaker(sql);
  const actions = createExecutionActions({
    sql,
    tokens,
    runtimes,
    history: { add: () => undefined },
    backlogs: { queue: (_account, _chars, work) => work() },
  });

  function take(node: ExecutionNode, held: readonly HeldInvocation[]): void {
    for (const invocation of held) node.parts.set(partKey(invocation), { invocation, isBusy: false });
  }

  async function runLane(node: ExecutionNode, sourceId: string, limit: number): Promise<void> {
    const dispatcher = {
      capacity: () => limit,
      take: (held: HeldInvocation[]) => take(node, held),
    } as unknown as Dispatcher;
    const nodeId = () => node.id;
    const clients = { take: () => undefined };
    await runSourceLane(
      {
        sql,
        laneTurns: { run: async (_account, _lane, claim) => void (await claim()), stop: async () => [] },
        dispatcher,
        postponed: createPostponedLanes(0),
        turns: createTurns({
          sql,
          nodeId,
          dispatcher: () => dispatcher,
          clients,
          isSuspended: () => false,
          log: testLog,
        }),
        limits: limitsOf({}),
      },
      nodeId,
      { sourceId },
    );
  }

  return {
    ...createNodeMoves(nodes, parts.withMemory),

    async accept(node: ExecutionNode, { workflow, rows }: Extract<ExecutionMove, { kind: 'accept' }>): Promise<void> {
      const sourceId = workflows[workflow] as string;
      const base = { accountId, sourceId, kind: 'manual' as const, event: '{}' };
      if (workflow === 0) {
        const added = rows.map(() => ({ ...base, id: newId('execution') }));
        await insertInTurn(sql, added);
        return;
      }
      const added = rows.map((isHeld) => ({
        ...base,
        id: newId('execution'),
        ...(isHeld ? { leasedBy: node.id } : {}),
      }));
      await insertInvocations(sql, added);
      take(
        node,
        added.flatMap(({ leasedBy, ...rest }) =>
          leasedBy === undefined ? [] : [{ ...rest, leasedBy, claim: 1, attempts: 1, crashes: 0 }],
        ),
      );
    },

    work: (node: ExecutionNode, job: JobState, limit: number) =>
      workJob(sql, node, job, () => {
        const [kind, id = ''] = job.key.split(':');
        return kind === 'wake' ? wake({ executionId: id }) : runLane(node, id, limit);
      }),

    run: parts.run,
    tryAgain: parts.tryAgain,

    resume: (id: string, token: string, data: string) => actions.resume(id, token, data),
    cancel: (id: string) => actions.cancel({ accountId } as never, id),
    replay: (id: string, from: 'start' | 'failed') => actions.replay({ accountId } as never, id, { from }),
    /** Two at a time ask for it. Answers how many both were told of. */
    async retry(workflowId: string): Promise<number> {
      const both = [1, 2].map(() => actions.retry({ accountId } as never, workflowId, {}));
      let count = 0;
      for (const one of await Promise.allSettled(both)) {
        if (one.status === 'rejected') throw one.reason;
        count += one.value;
      }
      return count;
    },

    async activate(workflowId: string, active: boolean): Promise<void> {
      const [row] = await sql<{ revision: number }[]>`select revision from emitters where id = ${workflowId}`;
      await changeWorkflow(sql, accountId, workflowId, row?.revision ?? 0, { userId: accountId, active }, {} as never);
    },

    async remove(workflowId: string): Promise<void> {
      await cancelWaitingExecutions(sql, accountId, workflowId);
      await deleteWorkflow(sql, accountId, workflowId);
    },

    /** Another node has said that it has changed. */
    forget: (workflowId: string) => runtimes.state.forget(workflowId),

    async giveBack(node: ExecutionNode, held: readonly HeldInvocation[]): Promise<void> {
      for (const invocation of held) {
        node.parts.delete(partKey(invocation));
        await releaseInvocations(sql, invocation.leasedBy, [invocation]);
      }
    },

    /** Two checks: a row in transit at the first check is held at the second. */
    async giveBackUnheld(node: ExecutionNode): Promise<void> {
      const holds = (id: string) =>
        [...node.parts.values()].some(({ invocation }) => invocation.id === id && invocation.leasedBy === node.id);
      const look = createUnheldLeases({
        sql,
        nodeId: () => node.id,
        dispatcher: { holds, refuse: () => undefined },
        deliverer: { holds: () => true },
        sends: { holds: () => true },
        log: testLog,
      });
      await look();
      await look();
    },

    requeue: () => requeueOverdueWaits(sql, 0),

    /** Lets this much time pass for waiting executions and jobs. */
    async pass(db: Sql, ms: number): Promise<void> {
      const span = db`make_interval(secs => ${ms / 1_000}::float8)`;
      await db`update execution_waits set wake_at = wake_at - ${span}`;
      await db`update graphile_worker._private_jobs set run_at = run_at - ${span}`;
    },
  };
}
