/** Lets a few things of each tenant happen at a time, in the order of asking. */
export interface Limiter {
  /**
   * Resolves with a function that ends the turn; call it once. Resolves with undefined if `signal`
   * fires first.
   */
  take(tenantId: string, signal: AbortSignal): Promise<(() => void) | undefined>;
  /** How many wait for their turn. */
  countWaiting(tenantId: string): number;
  /** Whether the next request must wait. */
  isFull(tenantId: string): boolean;
}

interface Tenant {
  underWay: number;
  waiting: Set<() => void>;
}

export function createLimiter(maxUnderWay: number): Limiter {
  const tenants = new Map<string, Tenant>();

  function end(tenantId: string, tenant: Tenant): void {
    const [next] = tenant.waiting;
    if (next !== undefined) return next();
    tenant.underWay -= 1;
    if (tenant.underWay === 0) tenants.delete(tenantId);
  }

  return {
    countWaiting: (tenantId) => tenants.get(tenantId)?.waiting.size ?? 0,
    isFull: (tenantId) => (tenants.get(tenantId)?.underWay ?? 0) >= maxUnderWay,
    take(tenantId, signal) {
      if (signal.aborted) return Promise.resolve(undefined);
      const tenant = tenants.get(tenantId) ?? { underWay: 0, waiting: new Set() };
      tenants.set(tenantId, tenant);
      const endOne = () => end(tenantId, tenant);
      if (tenant.underWay < maxUnderWay) {
        tenant.underWay += 1;
        return Promise.resolve(endOne);
      }
      return new Promise((resolve) => {
        const start = () => settle(endOne);
        const abort = () => settle(undefined);
        const settle = (turn: (() => void) | undefined) => {
          tenant.waiting.delete(start);
          signal.removeEventListener('abort', abort);
          resolve(turn);
        };
        tenant.waiting.add(start);
        signal.addEventListener('abort', abort);
      });
    },
  };
}

/** Does `work` when its turn has come; undefined where `signal` fired before. */
export async function inTurn<T>(
  turns: Limiter,
  tenantId: string,
  signal: AbortSignal,
  work: () => T | Promise<T>,
): Promise<T | undefined> {
  const end = await turns.take(tenantId, signal);
  if (end === undefined) return undefined;
  try {
    return await work();
  } finally {
    end();
  }
}
