import { createTenantTurns } from '@headwater/shared';
import type { Log } from '../../log.ts';
import { restAfterMs } from '../../rest-after.ts';
import type { Dispatcher } from '../../run/dispatcher.ts';
import type { HeldInvocation } from '../../run/invocation.ts';
import { addJobs } from '../../store/add-jobs.ts';
import { claimExecutions, laterTurn } from '../../store/claim-executions.ts';
import type { Sql } from '../../store/database.ts';
import { addRunLanes } from '../../store/insert-invocations.ts';
import { inTime } from '../../store/renewed-client.ts';
import type { WaitingClients } from './waiting-clients.ts';

/** A workflow whose settings say when its executions start. */
interface TurnTaker {
  accountId: string;
  workflowId: string;
}

/** Starts executions of such workflows on this node. */
export interface Turns {
  /** Something waits, or something has ended: what may start now does. */
  next(workflow: TurnTaker): void;
  /** The same for a job of the workflow's lane; rejects where the job is to come back. `nextTryMs`: when, without room. */
  runLane(workflow: TurnTaker, nextTryMs: () => number): Promise<void>;
  /** Resolves when no claim is under way. */
  settled(): Promise<void>;
}

export interface TurnsOptions {
  sql: Sql;
  nodeId: () => string;
  dispatcher: () => Pick<Dispatcher, 'capacity' | 'take'>;
  clients: Pick<WaitingClients, 'take'>;
  log: Log;
}

/** What one claim takes at most: fair to the other workflows of the node. */
const MAX_CLAIMED = 64;
/** Claims of a tenant at the same time: with a thousand busy workflows it still leaves connections to the others. */
const MAX_CLAIMS_PER_TENANT = 2;
/**
 * One that took longer, as with thousands that wait or run, is followed by a pause as long as itself: each end of an execution asks for
 * the next claim, and they would keep the database busy between them.
 */
const SHORT_CLAIM_MS = 5;
/** A node without room looks again after this long; others may start the next meanwhile. */
const NO_ROOM_MS = 500;
/** The end of what runs starts the next. This is for the case that it cannot: it ran before the workflow took turns. */
const BLOCKED_AGAIN_MS = 10_000;

const NEVER = new AbortController().signal;

type Outcome = 'done' | 'more' | 'blocked' | 'no-room';

const claimInTime = (sql: Sql, wanted: Parameters<typeof claimExecutions>[1]) =>
  inTime(sql, claimExecutions(sql, wanted));

export function createTurns(options: TurnsOptions): Turns {
  const { sql, log } = options;
  /** Claims under way, by workflow. True: asked for once more meanwhile, since what they see may be older than that. */
  const underWay = new Map<string, boolean>();
  const promises = new Set<Promise<void>>();
  const tenants = createTenantTurns(MAX_CLAIMS_PER_TENANT);

  async function claim(workflow: TurnTaker): Promise<Outcome> {
    const end = await tenants.take(workflow.accountId, NEVER);
    const startedMs = performance.now();
    try {
      return await claimNow(workflow);
    } finally {
      endAfterRest(end, performance.now() - startedMs);
    }
  }

  async function claimNow({ accountId, workflowId }: TurnTaker): Promise<Outcome> {
    const dispatcher = options.dispatcher();
    const limit = Math.min(MAX_CLAIMED, dispatcher.capacity(accountId));
    if (limit <= 0) return 'no-room';
    const { held, blocked, cut } = await claimInTime(sql, { workflowId, nodeId: options.nodeId(), limit });
    dispatcher.take(held.map(withClient));
    if (held.length === limit || cut) return 'more';
    return blocked ? 'blocked' : 'done';
  }

  function withClient(invocation: HeldInvocation): HeldInvocation {
    const respond = options.clients.take(invocation.id);
    return respond === undefined ? invocation : { ...invocation, respond };
  }

  async function claimNext(workflow: TurnTaker): Promise<void> {
    const { workflowId } = workflow;
    try {
      do {
        underWay.set(workflowId, false);
        const outcome = await claim(workflow);
        if (outcome === 'more') await addRunLanes(sql, [workflowId]);
        if (outcome === 'no-room') await addRunLanes(sql, [workflowId], Date.now() + NO_ROOM_MS);
      } while (underWay.get(workflowId) === true);
    } catch (err) {
      log.error({ workflow: workflowId, err }, 'the next execution could not be started; maintenance finds it');
    } finally {
      underWay.delete(workflowId);
    }
  }

  return {
    next(workflow) {
      if (underWay.has(workflow.workflowId)) return void underWay.set(workflow.workflowId, true);
      const claiming = claimNext(workflow).finally(() => promises.delete(claiming));
      promises.add(claiming);
    },
    async runLane(workflow, nextTryMs) {
      const { workflowId } = workflow;
      const outcome = await claim(workflow);
      if (outcome === 'more') await addRunLanes(sql, [workflowId]);
      if (outcome === 'no-room') await addRunLanes(sql, [workflowId], nextTryMs());
      if (outcome === 'blocked') await addJobs(sql, [laterTurn(workflowId, BLOCKED_AGAIN_MS)]);
    },
    async settled() {
      await Promise.all(promises);
    },
  };
}

function endAfterRest(end: (() => void) | undefined, tookMs: number): void {
  if (tookMs > SHORT_CLAIM_MS) setTimeout(() => end?.(), restAfterMs(tookMs)).unref();
  else end?.();
}

/** A run whose end lets the next execution of its workflow start. A run that rejects is given back, with a job for its lane. */
export function thenNext<Rest extends unknown[]>(
  turns: Pick<Turns, 'next'>,
  run: (invocation: HeldInvocation, ...rest: Rest) => Promise<void>,
): (invocation: HeldInvocation, ...rest: Rest) => Promise<void> {
  return async (invocation, ...rest) => {
    await run(invocation, ...rest);
    const { inTurn, accountId, sourceId: workflowId } = invocation;
    if (inTurn) turns.next({ accountId, workflowId });
  };
}
