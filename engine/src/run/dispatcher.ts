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
  const runningByTenant = new Map<string, number>();
  const runningBySource = new Map<string, number>();
  let running = 0;
  let stopping: Promise<void> | undefined;
  let idle: (() => void)[] = [];

  const mayRun = (tenant: string, lane: string) =>
    (runningByTenant.get(tenant) ?? 0) < LIMITS.maxRunsPerTenant &&
    (runningBySource.get(lane) ?? 0) < LIMITS.maxRunsPerComponent;

  function startWhatMayRun(): void {
    while (stopping === undefined) {
      const invocation = queue.next(mayRun);
      if (invocation === undefined) return;
      void start(invocation);
    }
  }

  async function start(invocation: HeldInvocation): Promise<void> {
    count(invocation, 1);
    try {
      await options.run(invocation);
    } catch (error) {
      options.log.error({ invocation: invocation.id, err: error }, 'an invocation could not be committed and will run again');
      await giveBack([invocation]);
    }
    count(invocation, -1);
    startWhatMayRun();
    if (running === 0) {
      for (const wake of idle) wake();
      idle = [];
    }
  }

  function count(invocation: HeldInvocation, by: 1 | -1): void {
    running += by;
    add(runningByTenant, invocation.accountId, by);
    add(runningBySource, invocation.sourceId, by);
  }

  async function giveBack(invocations: readonly HeldInvocation[]): Promise<void> {
    try {
      await options.release(invocations);
    } catch (error) {
      // The rows stay leased by this node; they are released when it ends or is found dead.
      options.log.error({ count: invocations.length, err: error }, 'invocations could not be released');
    }
  }

  async function drain(): Promise<void> {
    const waiting = queue.clear();
    if (waiting.length > 0) await giveBack(waiting);
    if (running > 0) await new Promise<void>((resolve) => idle.push(resolve));
  }

  return {
    take(invocations) {
      if (stopping !== undefined) {
        void giveBack(invocations);
        return;
      }
      for (const invocation of invocations) queue.push(invocation.accountId, invocation.sourceId, invocation);
      startWhatMayRun();
    },
    capacity: () => (stopping === undefined ? LIMITS.maxHeldInvocations - queue.size() - running : 0),
    stats: () => ({ waiting: queue.size(), running }),
    stop() {
      stopping ??= drain();
      return stopping;
    },
  };
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
