import type { ActiveTenants } from '@headwater/shared';

/** Steps of one tenant in one turn of the event loop. Each takes about 0.1 ms of the thread. */
const MAX_PER_TURN = 4;

interface Tenant {
  taken: number;
  /** In their order. */
  waiting: (() => void)[];
}

/**
 * Steps of requests, their beginning and what becomes of their answers. While others are here a few
 * of one tenant are done in each turn of the event loop: a hundred answers that come in the same
 * moment, and the requests that follow them, would hold the thread for all others. Undefined where
 * the step may be done at once.
 */
export function createTurnSteps(
  activeTenants: Pick<ActiveTenants, 'hasSeveral'>,
): (tenantId: string) => Promise<void> | undefined {
  const tenants = new Map<string, Tenant>();
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(nextTurn);
  }

  function nextTurn(): void {
    isScheduled = false;
    for (const [id, tenant] of tenants) {
      const next = tenant.waiting.splice(0, MAX_PER_TURN);
      tenant.taken = next.length;
      for (const begin of next) begin();
      if (next.length === 0) tenants.delete(id);
    }
    if (tenants.size > 0) schedule();
  }

  return (tenantId) => {
    if (!activeTenants.hasSeveral(performance.now())) return undefined;
    const tenant = tenants.get(tenantId) ?? { taken: 0, waiting: [] };
    tenants.set(tenantId, tenant);
    schedule();
    if (tenant.taken < MAX_PER_TURN && tenant.waiting.length === 0) {
      tenant.taken++;
      return undefined;
    }
    return new Promise((resolve) => tenant.waiting.push(resolve));
  };
}
