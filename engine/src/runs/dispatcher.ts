import { createFairQueue } from '@headwater/shared';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKnownLimits, type LimitsCache } from '../accounts/index.ts';
import type { Log } from '../contract/index.ts';
import { createHeldClaims, type HeldClaims } from './held-claims.ts';
import type { HeldInvocation } from '../events/index.ts';
import { createHeldCount, createRunningCounts, type RunningCounts } from './counts/run-counts.ts';
import { createRunSlots, type RunSlot } from './run-slots.ts';
import { TAKEN_OVER } from './kept-requests.ts';
import { loseUnstored } from './lost-runs.ts';

/*
 * States of an invocation that this node holds, and the transitions between them:
 *
 *   queued       `take`, once HeldClaims admits its claim. It uses no slot of its tenant.
 *   running      `startWhatMayRun` gave it a slot: limits of source and tenant have room.
 *   committing   the sandbox is done (`ran`): the slot is free, the row is still leased.
 *   queued again an execution that continues after a wait (`again`); before others of its emitter.
 *   ended        committed, given back (`release`), or lost to another holder.
 *
 * The node itself goes from taking to draining (only invocations with a waiting client start) to
 * stopping (nothing starts). All of it is in memory. The row stays leased from its insertion to the
 * commit that deletes it. So a crash leaves a leased row, which another node releases and queues.
 */

export interface DispatcherOptions {
  /**
   * Runs one invocation to its committed end. A rejection means that nothing was committed.
   * - `ran` is called when the sandbox is done with it. The next may start while this one waits for
   *   its commit, so commits can be larger than the number of concurrent runs.
   * - `again` is for an execution that continues later. It runs before others of the same emitter.
   *   It resolves with false if the node stops: then the invocation must be given back.
   * - `lost` fires when another holder has it: later effects of the run do not count.
   */
  run: (invocation: HeldInvocation, ran: () => void, again: () => Promise<boolean>, lost: AbortSignal) => Promise<void>;
  /** Gives back invocations that were held: this counts for nothing. */
  release: (invocations: readonly HeldInvocation[]) => Promise<void>;
  /**
   * Pause before an invocation is given back whose run could not be committed. Default
   * RELEASE_PAUSE_MS.
   */
  releasePauseMs?: number;
  /** How much each tenant may run at the same time. */
  limits: Pick<LimitsCache, 'known' | 'get' | 'isSuspended'>;
  /**
   * Whether so much of the tenant's output waits for its commit that its next run must wait. The
   * caller calls `startMore` when that is over. Otherwise runs with large outputs would fill
   * memory, and take the processors from the commits. Default: never.
   */
  isBehind?: (accountId: string) => boolean;
  log: Log;
}

export interface Dispatcher {
  /**
   * Invocations leased by this node, in the order of their acceptance. Of one that it holds
   * already: see HeldClaims.
   */
  take(invocations: readonly HeldInvocation[]): void;
  /** As in HeldClaims. */
  refuse: HeldClaims['refuse'];
  loseNode: HeldClaims['loseNode'];
  /**
   * How many more invocations of the tenant this node should lease. A tenant may hold as much as is
   * still free for others: alone it takes half of the room. So full backlogs never leave another
   * tenant without room.
   */
  capacity(accountId: string): number;
  /** The same of those for which a client waits: these are run until the stop. */
  capacityToAnswer(accountId: string): number;
  /** From `take` to the end of its run, its commit included. */
  holds(invocationId: string): boolean;
  /** Something outside that was in the way of a run is no longer. */
  startMore(): void;
  /** The tenant was suspended: gives back what waits of it. What runs goes on. */
  giveBack(accountId: string): void;
  stats(): { waiting: number; running: number; committing: number };
  /**
   * Starts nothing new but those for which a client waits, and gives back the others that wait.
   * Idempotent.
   */
  drain(): Promise<void>;
  /** Starts nothing new, gives back what waits, lets what runs finish. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Gives the obstacle of a failed commit time to end. It also limits how often an invocation comes
 * back that can never be committed.
 */
const RELEASE_PAUSE_MS = 5_000;

/**
 * Runs the invocations that this node holds, fair between tenants, within the limits per component
 * and tenant.
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { limits } = options;
  const shelf = createShelf();
  const { queue, held, claims } = shelf;
  const running = createRunningCounts();
  const queueFirst = (one: HeldInvocation) => queue.pushFirst(one.accountId, one.sourceId, one);
  const slots = createRunSlots({ running, queueFirst, onChange: startWhatMayRun });
  const pause = createPause(options.releasePauseMs ?? RELEASE_PAUSE_MS);
  let draining: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;
  const { mayStart, mayTenantStart } = withinLimits(options, running, startWhatMayRun);

  function startWhatMayRun(): void {
    while (stopping === undefined) {
      const invocation = queue.next(mayStart, mayTenantStart);
      if (invocation === undefined) return;
      if (!slots.resume(invocation)) void start(invocation);
    }
  }

  async function start(invocation: HeldInvocation): Promise<void> {
    const slot = slots.start(invocation);
    await runOrGiveBack(options, { invocation, slot, pause, lost: claims.lostSignal(invocation) });
    end([invocation]);
    slot.free();
  }

  const isAsked = ({ respond }: HeldInvocation) => respond !== undefined && stopping === undefined;
  const end = (invocations: readonly HeldInvocation[]) => take(shelf.end(invocations));

  const isKept = (one: HeldInvocation) =>
    !limits.isSuspended(one.accountId) && (draining === undefined || isAsked(one));

  function take(invocations: readonly HeldInvocation[]): void {
    shelf.put(invocations.every(isKept) ? invocations : keepOrGiveBack(options, invocations, isKept));
    startWhatMayRun();
  }

  async function release(waiting: readonly HeldInvocation[]): Promise<void> {
    await giveBack(options, waiting);
    end(waiting);
  }

  async function stop(): Promise<void> {
    draining ??= Promise.resolve();
    const waiting = queue.clear().filter((invocation) => !slots.hasBegun(invocation));
    slots.stop();
    pause.end();
    await release(waiting);
    await Promise.all([draining, held.none()]);
  }

  return {
    take,
    refuse: claims.refuse,
    loseNode: claims.loseNode,
    capacity: (accountId) => (draining === undefined && !limits.isSuspended(accountId) ? held.roomFor(accountId) : 0),
    capacityToAnswer: (accountId) => (stopping === undefined ? held.roomFor(accountId) : 0),
    holds: claims.has,
    startMore: startWhatMayRun,
    giveBack: (accountId) => void release(shelf.takeOut((one) => one.accountId !== accountId || slots.hasBegun(one))),
    stats: () => statsOf({ waiting: queue.size(), running: running.total(), held: held.size() }),
    drain: () => (draining ??= release(shelf.takeOut((one) => isAsked(one) || slots.hasBegun(one)))),
    stop: () => (stopping ??= stop()),
  };
}

/** Invocations that the node holds, and the order in which they wait. */
function createShelf() {
  const queue = createFairQueue<HeldInvocation>();
  const held = createHeldCount();
  const claims = createHeldClaims();
  const enqueue = (invocations: readonly HeldInvocation[]) => {
    for (const invocation of invocations) queue.push(invocation.accountId, invocation.sourceId, invocation);
  };
  return {
    queue,
    held,
    claims,
    /** Answers those that wait, except for these, which go on waiting. */
    takeOut(isKept: (invocation: HeldInvocation) => boolean): HeldInvocation[] {
      const waiting = queue.clear();
      enqueue(waiting.filter(isKept));
      return waiting.filter((invocation) => !isKept(invocation));
    },
    put(invocations: readonly HeldInvocation[]) {
      const admitted = claims.admit(invocations);
      held.add(admitted);
      enqueue(admitted);
    },
    /** Answers newer claims of them, which have waited for this end. */
    end(invocations: readonly HeldInvocation[]): HeldInvocation[] {
      held.remove(invocations);
      return invocations.flatMap((invocation) => claims.end(invocation) ?? []);
    },
  };
}

function keepOrGiveBack(
  options: DispatcherOptions,
  invocations: readonly HeldInvocation[],
  isKept: (invocation: HeldInvocation) => boolean,
): readonly HeldInvocation[] {
  void giveBack(
    options,
    invocations.filter((invocation) => !isKept(invocation)),
  );
  return invocations.filter(isKept);
}

/** After `end` nothing waits. */
function createPause(ms: number) {
  const ending = new AbortController();
  const { signal } = ending;
  return { wait: () => sleep(ms, undefined, { signal }).catch(() => undefined), end: () => ending.abort() };
}

interface Started {
  invocation: HeldInvocation;
  slot: RunSlot;
  pause: ReturnType<typeof createPause>;
  lost: AbortSignal;
}

async function runOrGiveBack(options: DispatcherOptions, { invocation, slot, pause, lost }: Started): Promise<void> {
  if (lost.aborted) return invocation.respond?.(TAKEN_OVER);
  try {
    await options.run(invocation, slot.free, slot.again, lost);
  } catch (error) {
    const { id, isUnstored } = invocation;
    const next = isUnstored ? 'its client is told' : 'it will run again';
    options.log.error({ invocation: id, err: error }, `an invocation could not be committed: ${next}`);
    slot.free();
    if (!isUnstored) await pause.wait();
    await giveBack(options, [invocation]);
  }
}

function withinLimits({ isBehind, limits, log }: DispatcherOptions, running: RunningCounts, onKnown: () => void) {
  const limitsOf = createKnownLimits({ limits, onKnown, log });
  return {
    // Until a tenant's limits are known, its runs wait.
    mayTenantStart: (tenant: string): boolean =>
      running.ofTenant(tenant) < (limitsOf(tenant)?.maxRunsPerAccount ?? 0) && isBehind?.(tenant) !== true,
    mayStart: (tenant: string, source: string): boolean =>
      running.ofSource(source) < (limitsOf(tenant)?.maxRunsPerComponent ?? 0),
  };
}

function statsOf({ waiting, running, held }: { waiting: number; running: number; held: number }) {
  return { waiting, running, committing: held - waiting - running };
}

async function giveBack(options: DispatcherOptions, invocations: readonly HeldInvocation[]): Promise<void> {
  const stored = loseUnstored(invocations);
  if (stored.length === 0) return;
  try {
    await options.release(stored);
  } catch (error) {
    // The rows stay leased by this node; they are released when it ends or is found dead.
    options.log.error({ count: stored.length, err: error }, 'invocations could not be released');
  }
}
