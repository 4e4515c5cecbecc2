import { createLimiter } from '@headwater/shared';
import { addJobs, createPostponedLanes, type Sql } from '../../db/index.ts';
import type { Log } from '../../contract/index.ts';
import { restAfterMs } from '../../fairness/index.ts';
import { addRunLanes, type Dispatcher, type WaitingClients } from '../../runs/index.ts';
import type { HeldInvocation } from '../../events/index.ts';
import { claimExecutions, laterTurn } from './claim-executions.sql.ts';

/*
 * States of a workflow here, and the transitions between them:
 *
 *   idle         no claim.
 *   waiting      `next` or `runLane`: the claim waits for a turn of its tenant. Further requests
 *                join this claim.
 *   claiming     the turn has come. A request meanwhile makes another claim follow (`again`), since
 *                the current one may see older rows.
 *   idle         `more`: a job of the lane continues. `no-room`: a job tries again. `blocked`: the
 *                end of a running execution starts the next. `done`: nothing waits.
 *
 * Queued executions are rows without a lease, and a claim leases them in one statement. Claims are
 * in memory: after a crash the lane's job or maintenance finds the queue again.
 */

/** A workflow whose settings control when its executions start. */
interface TurnTaker {
  accountId: string;
  workflowId: string;
}

/** Starts executions of such workflows on this node. */
export interface Turns {
  /** Something waits, or something has ended: what may start now does. */
  next(workflow: TurnTaker): void;
  /**
   * As `next`, for a job of the workflow's lane; rejects if the job must come back. Resolves too
   * when the claim waits for its turn: then the job is done and its worker is free for other
   * tenants. If the node dies, the node that takes over queues waiting claims again.
   */
  runLane(workflow: TurnTaker): Promise<void>;
  /**
   * Resolves when no claim is under way. What waits is given back to its lane, all at once:
   * thousands may wait, and one after the other they would take longer than a node has for its end.
   * Never rejects.
   */
  settled(): Promise<void>;
}

export interface TurnsOptions {
  sql: Sql;
  nodeId: () => string;
  dispatcher: () => Pick<Dispatcher, 'capacity' | 'take'>;
  clients: Pick<WaitingClients, 'take'>;
  isSuspended: (accountId: string) => boolean;
  log: Log;
}

/** Maximum of one claim, for fairness to the node's other workflows. */
const MAX_CLAIMED = 64;
/**
 * Claims of a tenant at the same time: with a thousand busy workflows it still leaves connections
 * to the others.
 */
const MAX_CLAIMS_PER_TENANT = 2;
/**
 * One that took longer, as with thousands that wait or run, is followed by a pause as long as
 * itself: each end of an execution asks for the next claim, and they would keep the database busy
 * between them.
 */
const SHORT_CLAIM_MS = 5;
/** A node without room looks again after this long; others may start the next meanwhile. */
const NO_ROOM_MS = 500;
/**
 * Normally the end of a running execution starts the next. This job covers executions that cannot
 * do it, because they started before the workflow took turns.
 */
const BLOCKED_AGAIN_MS = 10_000;

type Outcome = 'done' | 'more' | 'blocked' | 'no-room';

/** A claim that is under way, or waits for its turn. */
interface Claim {
  /** Requested since the claim began: it may see older rows. */
  again: boolean;
  /**
   * Asked for by a job of the lane, which may have been all that would come to the workflow by
   * itself.
   */
  forLane: boolean;
}

export function createTurns(options: TurnsOptions): Turns {
  /** By workflow. */
  const claims = new Map<string, Claim>();
  const promises = new Set<Promise<void>>();
  const tenants = createLimiter(MAX_CLAIMS_PER_TENANT);
  /** Workflows whose claims are given back. */
  const givenBack = new Set<string>();
  let isSettling = false;
  const claimNow = createClaim(options);
  const goOn = createGoOn(options.sql);

  /**
   * Requests that arrive before the claim has its turn are part of it. Later requests make the next
   * claim.
   */
  async function claim(workflow: TurnTaker, isForLane: boolean): Promise<void> {
    const { accountId, workflowId } = workflow;
    const own: Claim = { again: false, forLane: isForLane };
    claims.set(workflowId, own);
    // A signal of its own: to one of all that wait each would be added after a look at all others.
    const end = await tenants.take(accountId, new AbortController().signal);
    const startedMs = performance.now();
    const { forLane } = own;
    Object.assign(own, { again: false, forLane: false });
    try {
      if (isSettling) givenBack.add(workflowId);
      else await goOn(workflow, await claimNow(workflow), forLane);
    } finally {
      claims.delete(workflowId);
      endAfterRest(end, performance.now() - startedMs);
      if (own.again) start(workflow, own.forLane);
    }
  }

  function begin(workflow: TurnTaker, forLane: boolean): Promise<void> {
    const claiming = claim(workflow, forLane).finally(() => promises.delete(claiming));
    promises.add(claiming);
    return claiming;
  }

  /** Now or, where there is one of the workflow, after that one. */
  function start(workflow: TurnTaker, forLane: boolean): void {
    const { workflowId } = workflow;
    const own = claims.get(workflowId);
    if (own !== undefined) {
      own.again = true;
      own.forLane ||= forLane;
      return;
    }
    begin(workflow, forLane).catch((err: unknown) => {
      options.log.error({ workflow: workflowId, err }, 'the next execution could not be started; maintenance finds it');
    });
  }

  return {
    next: (workflow) => start(workflow, false),
    async runLane(workflow) {
      if (claims.has(workflow.workflowId) || tenants.isFull(workflow.accountId)) start(workflow, true);
      else await begin(workflow, true);
    },
    async settled() {
      isSettling = true;
      while (promises.size > 0) await Promise.allSettled(promises);
      isSettling = false;
      if (givenBack.size === 0) return;
      await addRunLanes(options.sql, [...givenBack]).catch((err: unknown) => {
        options.log.error({ err }, 'lanes of workflows were not given back; maintenance finds them');
      });
      givenBack.clear();
    },
  };
}

/** Starts what may start now. */
function createClaim(options: TurnsOptions): (workflow: TurnTaker) => Promise<Outcome> {
  const withClient = (invocation: HeldInvocation): HeldInvocation => {
    const respond = options.clients.take(invocation.id);
    return respond === undefined ? invocation : { ...invocation, respond };
  };
  return async ({ accountId, workflowId }) => {
    // The end of the suspension adds a job for the lane.
    if (options.isSuspended(accountId)) return 'done';
    const dispatcher = options.dispatcher();
    const limit = Math.min(MAX_CLAIMED, dispatcher.capacity(accountId));
    if (limit <= 0) return 'no-room';
    const wanted = { workflowId, nodeId: options.nodeId(), limit };
    const { held, blocked, cut } = await claimExecutions(options.sql, wanted);
    dispatcher.take(held.map(withClient));
    if (held.length === limit || cut) return 'more';
    return blocked ? 'blocked' : 'done';
  };
}

/**
 * In the claim's turn as well: a thousand that find no room do not ask the database at the same
 * time.
 */
function createGoOn(sql: Sql): (workflow: TurnTaker, outcome: Outcome, forLane: boolean) => Promise<void> {
  const postponed = createPostponedLanes(NO_ROOM_MS);
  return async ({ accountId, workflowId }, outcome, forLane) => {
    if (outcome === 'more') await addRunLanes(sql, [workflowId]);
    if (outcome === 'no-room') await addRunLanes(sql, [workflowId], postponed.nextTryMs(accountId));
    if (outcome === 'blocked' && forLane) await addJobs(sql, [laterTurn(workflowId, BLOCKED_AGAIN_MS)]);
  };
}

function endAfterRest(end: (() => void) | undefined, tookMs: number): void {
  if (tookMs > SHORT_CLAIM_MS) setTimeout(() => end?.(), restAfterMs(tookMs)).unref();
  else end?.();
}

/**
 * Makes the end of a run start the next execution of its workflow. A run that rejects is given
 * back, with a job for its lane.
 */
export function startNextAfter<Rest extends unknown[]>(
  turns: Pick<Turns, 'next'>,
  run: (invocation: HeldInvocation, ...rest: Rest) => Promise<void>,
): (invocation: HeldInvocation, ...rest: Rest) => Promise<void> {
  return async (invocation, ...rest) => {
    await run(invocation, ...rest);
    const { inTurn, accountId, sourceId: workflowId } = invocation;
    if (inTurn) turns.next({ accountId, workflowId });
  };
}
