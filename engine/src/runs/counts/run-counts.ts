import { LIMITS } from '@headwater/shared';
import type { HeldInvocation } from '../../events/index.ts';

export interface RunningCounts {
  /** Takes a slot. The returned function frees it, and returns false if it was free already. */
  start(invocation: HeldInvocation): () => boolean;
  ofTenant(tenant: string): number;
  ofSource(source: string): number;
  total(): number;
}

export function createRunningCounts(): RunningCounts {
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
    ofTenant: (tenant) => byTenant.get(tenant) ?? 0,
    ofSource: (source) => bySource.get(source) ?? 0,
    total: () => total,
  };
}

/** Counts the invocations that a node holds, from lease to commit. */
export interface HeldCount {
  add(invocations: readonly HeldInvocation[]): void;
  remove(invocations: readonly HeldInvocation[]): void;
  size(): number;
  /** How many more of the tenant there is room for; see Dispatcher.capacity. */
  roomFor(tenant: string): number;
  /** Resolves when nothing is held. */
  none(): Promise<void>;
}

export function createHeldCount(): HeldCount {
  const sizes = new Map<string, number>();
  const bytesOf = new Map<string, number>();
  let size = 0;
  let bytes = 0;
  let idle: (() => void)[] = [];

  function count(invocations: readonly HeldInvocation[], by: 1 | -1): void {
    size += by * invocations.length;
    for (const { accountId, event } of invocations) {
      bytes += by * event.length;
      add(sizes, accountId, by);
      add(bytesOf, accountId, by * event.length);
    }
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
    roomFor(tenant) {
      if ((bytesOf.get(tenant) ?? 0) >= LIMITS.maxHeldInvocationBytes - bytes) return 0;
      // Each invocation taken adds one to the tenant's part and removes one from the free room.
      return Math.floor((LIMITS.maxHeldInvocations - size - (sizes.get(tenant) ?? 0)) / 2);
    },
    none: () => (size === 0 ? Promise.resolve() : new Promise((resolve) => idle.push(resolve))),
  };
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
