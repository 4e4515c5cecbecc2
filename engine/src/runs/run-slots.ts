import type { HeldInvocation } from '../events/index.ts';
import type { RunningCounts } from './counts/run-counts.ts';

/** The slot of one invocation. */
export interface RunSlot {
  /** Others may run while it waits for a commit. Idempotent. */
  free(): void;
  /**
   * It goes on after that: resolves with true when it has a slot again, with false where the node
   * stops.
   */
  again(): Promise<boolean>;
}

export interface RunSlots {
  /** Takes a slot. */
  start(invocation: HeldInvocation): RunSlot;
  /** True if the invocation has begun before: it continues in its turn. */
  resume(invocation: HeldInvocation): boolean;
  hasBegun(invocation: HeldInvocation): boolean;
  /** Nothing goes on from now on. */
  stop(): void;
}

export interface RunSlotsOptions {
  running: RunningCounts;
  /** Before all others of the same emitter: what has begun is to end. */
  queueFirst: (invocation: HeldInvocation) => void;
  /** A slot is free, or something is queued. */
  onChange: () => void;
}

export function createRunSlots({ running, queueFirst, onChange }: RunSlotsOptions): RunSlots {
  /** Called when it is their turn. */
  const waiting = new Map<HeldInvocation, (freeSlot: (() => boolean) | undefined) => void>();
  let isStopped = false;

  function nextTurn(invocation: HeldInvocation): Promise<(() => boolean) | undefined> {
    if (isStopped) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      waiting.set(invocation, resolve);
      queueFirst(invocation);
      onChange();
    });
  }

  return {
    start(invocation) {
      let freeSlot = running.start(invocation);
      const free = () => {
        if (freeSlot()) onChange();
      };
      return {
        free,
        async again() {
          free();
          const taken = await nextTurn(invocation);
          freeSlot = taken ?? freeSlot;
          return taken !== undefined;
        },
      };
    },
    resume(invocation) {
      const goOn = waiting.get(invocation);
      if (goOn === undefined) return false;
      waiting.delete(invocation);
      // Taken here: the next one to be looked at must not find the slot free.
      goOn(running.start(invocation));
      return true;
    },
    hasBegun: (invocation) => waiting.has(invocation),
    stop() {
      isStopped = true;
      for (const goOn of waiting.values()) goOn(undefined);
      waiting.clear();
    },
  };
}
