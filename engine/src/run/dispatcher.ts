import { LIMITS } from '@headwater/shared';
import type { Log } from '../log.ts';
import { createFairQueue } from './fair-queue.ts';
import type { HeldInvocation } from './invocation.ts';

export interface DispatcherOptions {
  /**
   * Runs one invocation to its committed end. A rejection means that nothing was committed. `ran` is called when the
   * sandbox is done with it: the next may start while this one waits for its commit, so commits can be larger than what
   * runs at the same time.
   */
  run: (invocation: HeldInvocation, ran: () => void) => Promise<void>;
  /** Gives back invocations that were held but not run. */
  release: (invocations: readonly HeldInvocation[]) => Promise<void>;
  log: Log;
}

export interface Dispatcher {
  /** Invocations leased by this node, in the order of their acceptance. */
  take(invocations: readonly HeldInvocation[]): void;
  /** How many more this node should lease. */
  capacity(): number;
  stats(): { waiting: number; running: number; committing: number };
  /** Starts nothing new, gives back what waits, lets what runs finish. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Runs the invocations that this node holds: at most so many of one component and of one tenant at the same time, fair
 * between tenants.
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const queue = createFairQueue<HeldInvocation>();
  const running = createRunningCounts();
  const held = createHeldCount();
  let stopping: Promise<void> | undefined;

  function startWhatMayRun(): void {
    while (stopping === undefined) {
      const invocation = queue.next(running.mayStart);
      if (invocation === undefined) return;
      void start(invocation);
    }
  }

  async function start(invocation: HeldInvocation): Promise<void> {
    const freeSlot = running.start(invocation);
    const ran = () => {
      if (freeSlot()) startWhatMayRun();
    };
    try {
      await options.run(invocation, ran);
    } catch (error) {
      const { id } = invocation;
      options.log.error({ invocation: id, err: error }, 'an invocation could not be committed and will run again');
      await giveBack(options, [invocation]);
    }
    held.remove([invocation]);
    ran();
  }

  async function drain(): Promise<void> {
    const waiting = queue.clear();
    await giveBack(options, waiting);
    held.remove(waiting);
    await held.none();
  }

  return {
    take(invocations) {
      if (stopping !== undefined) {
        void giveBack(options, invocations);
        return;
      }
      held.add(invocations);
      for (const invocation of invocations) queue.push(invocation.accountId, invocation.sourceId, invocation);
      startWhatMayRun();
    },
    capacity() {
      if (stopping !== undefined || held.bytes() >= LIMITS.maxHeldInvocationBytes) return 0;
      return LIMITS.maxHeldInvocations - held.size();
    },
    stats() {
      const waiting = queue.size();
      return { waiting, running: running.total(), committing: held.size() - waiting - running.total() };
    },
    stop() {
      stopping ??= drain();
      return stopping;
    },
  };
}

async function giveBack(options: DispatcherOptions, invocations: readonly HeldInvocation[]): Promise<void> {
  if (invocations.length === 0) return;
  try {
    await options.release(invocations);
  } catch (error) {
    // The rows stay leased by this node; they are released when it ends or is found dead.
    options.log.error({ count: invocations.length, err: error }, 'invocations could not be released');
  }
}

interface RunningCounts {
  /** Takes a slot; the function given back frees it, and answers false where it was free already. */
  start(invocation: HeldInvocation): () => boolean;
  mayStart(tenant: string, source: string): boolean;
  total(): number;
}

function createRunningCounts(): RunningCounts {
  const byTenant = new Map<string, number>();
  const bySource = new Map<string, number>();
  let total = 0;

  function count({ accountId, sourceId }: HeldInvocation, by: 1 | -1): void {
    total += by;
    add(byTenant, accountId, by);
    add(bySource, sourceId, by);
  }

  return {
    start(invocation) {
      let isTaken = true;
      count(invocation, 1);
      return () => {
        if (!isTaken) return false;
        isTaken = false;
        count(invocation, -1);
        return true;
      };
    },
    mayStart: (tenant, source) =>
      (byTenant.get(tenant) ?? 0) < LIMITS.maxRunsPerTenant && (bySource.get(source) ?? 0) < LIMITS.maxRunsPerComponent,
    total: () => total,
  };
}

interface HeldCount {
  add(invocations: readonly HeldInvocation[]): void;
  remove(invocations: readonly HeldInvocation[]): void;
  size(): number;
  bytes(): number;
  /** Resolves when nothing is held. */
  none(): Promise<void>;
}

/** What this node holds, from its lease to its commit. */
function createHeldCount(): HeldCount {
  let size = 0;
  let bytes = 0;
  let idle: (() => void)[] = [];

  function count(invocations: readonly HeldInvocation[], by: 1 | -1): void {
    size += by * invocations.length;
    for (const invocation of invocations) bytes += by * invocation.event.length;
  }

  return {
    add: (invocations) => count(invocations, 1),
    remove(invocations) {
      count(invocations, -1);
      if (size > 0) return;
      for (const wake of idle) wake();
      idle = [];
    },
    size: () => size,
    bytes: () => bytes,
    none: () => (size === 0 ? Promise.resolve() : new Promise((resolve) => idle.push(resolve))),
  };
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
