import { LIMITS } from '@headwater/shared';
import type { Log } from '../log.ts';
import { createFairQueue } from './fair-queue.ts';
import type { HeldInvocation } from './invocation.ts';

export interface DispatcherOptions {
  /** Runs one invocation to its committed end. A rejection means that nothing was committed. */
  run: (invocation: HeldInvocation) => Promise<void>;
  /** Gives back invocations that were held but not run. */
  release: (invocations: readonly HeldInvocation[]) => Promise<void>;
  log: Log;
}

export interface Dispatcher {
  /** Invocations leased by this node, in the order of their acceptance. */
  take(invocations: readonly HeldInvocation[]): void;
  /** How many more this node should lease. */
  capacity(): number;
  stats(): { waiting: number; running: number };
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
  let heldBytes = 0;
  let stopping: Promise<void> | undefined;

  function startWhatMayRun(): void {
    while (stopping === undefined) {
      const invocation = queue.next(running.mayStart);
      if (invocation === undefined) return;
      void start(invocation);
    }
  }

  async function start(invocation: HeldInvocation): Promise<void> {
    running.started(invocation);
    try {
      await options.run(invocation);
    } catch (error) {
      const { id } = invocation;
      options.log.error({ invocation: id, err: error }, 'an invocation could not be committed and will run again');
      await giveBack(options, [invocation]);
    }
    heldBytes -= invocation.event.length;
    running.ended(invocation);
    startWhatMayRun();
  }

  function capacity(): number {
    if (stopping !== undefined || heldBytes >= LIMITS.maxHeldInvocationBytes) return 0;
    return LIMITS.maxHeldInvocations - queue.size() - running.total();
  }

  async function drain(): Promise<void> {
    await giveBack(options, queue.clear());
    await running.none();
  }

  return {
    take(invocations) {
      if (stopping !== undefined) {
        void giveBack(options, invocations);
        return;
      }
      for (const invocation of invocations) {
        heldBytes += invocation.event.length;
        queue.push(invocation.accountId, invocation.sourceId, invocation);
      }
      startWhatMayRun();
    },
    capacity,
    stats: () => ({ waiting: queue.size(), running: running.total() }),
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
  started(invocation: HeldInvocation): void;
  ended(invocation: HeldInvocation): void;
  mayStart(tenant: string, source: string): boolean;
  total(): number;
  /** Resolves when nothing runs. */
  none(): Promise<void>;
}

function createRunningCounts(): RunningCounts {
  const byTenant = new Map<string, number>();
  const bySource = new Map<string, number>();
  let total = 0;
  let idle: (() => void)[] = [];

  function count(invocation: HeldInvocation, by: 1 | -1): void {
    total += by;
    add(byTenant, invocation.accountId, by);
    add(bySource, invocation.sourceId, by);
  }

  return {
    started: (invocation) => count(invocation, 1),
    ended(invocation) {
      count(invocation, -1);
      if (total > 0) return;
      for (const wake of idle) wake();
      idle = [];
    },
    mayStart: (tenant, source) =>
      (byTenant.get(tenant) ?? 0) < LIMITS.maxRunsPerTenant && (bySource.get(source) ?? 0) < LIMITS.maxRunsPerComponent,
    total: () => total,
    none: () => (total === 0 ? Promise.resolve() : new Promise((resolve) => idle.push(resolve))),
  };
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
