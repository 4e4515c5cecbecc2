import { createLimiter } from '@headwater/shared';
import { limitFault } from '../bridge/exceeded-limit.ts';
import type { LoadOutcome } from './describe-client.ts';

export interface LoadTurns {
  /**
   * Does `load`, of so many characters of code, when those of the tenant that were asked for before
   * have ended; refuses it where that takes too long, or too many wait.
   */
  run(tenantId: string, chars: number, load: () => Promise<LoadOutcome | undefined>): Promise<LoadOutcome | undefined>;
  /** From here on nobody rests. */
  stop(): void;
}

interface LoadTurnsBounds {
  maxQueuedPerTenant: number;
  maxLoadWaitMs: number;
}

/** Most loads are shorter, and need no rest. */
const SLOW_MS = 50;
const MAX_REST_MS = 1_000;
/** Reading and sending large code takes the node's thread: a second of rest for 64 MB. */
const CHARS_PER_REST_MS = 64 * 1_024;

/**
 * Code that was never seen is loaded while nothing else of its tenant is in the process. So loads
 * of a tenant go one after the other: at the same time, each would have a process made for it that
 * ends with it. After one that was slow there is a rest as long as it took, and one for large code:
 * whoever loads much, or loads what computes, is served slower himself.
 */
export function createLoadTurns({ maxQueuedPerTenant, maxLoadWaitMs }: LoadTurnsBounds): LoadTurns {
  const turns = createLimiter(1);
  let isStopped = false;

  async function take(tenantId: string): Promise<(() => void) | Refusal> {
    const used = turns.isFull(tenantId) ? turns.countWaiting(tenantId) + 1 : 0;
    if (used > maxQueuedPerTenant) return refusal({ name: 'maxQueuedRunsPerTenant', value: maxQueuedPerTenant, used });
    const askedAtMs = performance.now();
    const end = await turns.take(tenantId, AbortSignal.timeout(maxLoadWaitMs));
    const waitedMs = Math.ceil(performance.now() - askedAtMs);
    return end ?? refusal({ name: 'maxLoadWaitMs', value: maxLoadWaitMs, used: waitedMs });
  }

  return {
    async run(tenantId, chars, load) {
      const end = await take(tenantId);
      if (typeof end !== 'function') return end;
      const startedAtMs = performance.now();
      try {
        return await load();
      } finally {
        setTimeout(end, isStopped ? 0 : restMs(performance.now() - startedAtMs, chars));
      }
    },
    stop() {
      isStopped = true;
    },
  };
}

function restMs(tookMs: number, chars: number): number {
  return (tookMs < SLOW_MS ? 0 : Math.min(tookMs, MAX_REST_MS)) + chars / CHARS_PER_REST_MS;
}

type Refusal = Extract<LoadOutcome, { kind: 'refused' }>;

function refusal(limit: Refusal['limit']): Refusal {
  return { kind: 'refused', message: limitFault(limit).message, limit };
}
