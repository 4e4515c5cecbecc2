import { createLimiter } from '@headwater/shared';
import { limitFault } from '../bridge/exceeded-limit.ts';
import type { LoadOutcome } from './describe-client.ts';

export interface LoadTurns {
  /**
   * Runs `load` after earlier loads of the tenant have ended. `chars`: size of the code. Refuses if
   * the wait is too long, or too many loads wait.
   */
  run(tenantId: string, chars: number, load: () => Promise<LoadOutcome | undefined>): Promise<LoadOutcome | undefined>;
  /** From now on, loads do not pause. */
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
 * New code is loaded while its process has no other task of the tenant. So a tenant's loads run one
 * after the other: parallel ones would each start a process that ends with them. A slow load is
 * followed by a pause of the same length, and so is large code. A tenant that loads a lot, or
 * computes while loading, slows down only itself.
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
