/**
 * Does one thing at a time for each tenant, in the order of asking; things of different tenants at
 * the same time.
 */
export type InTurn = <T>(tenantId: string, act: () => Promise<T>) => Promise<T>;

export function createInTurn(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return async (tenantId, act) => {
    const turn = (last.get(tenantId) ?? Promise.resolve()).then(act);
    // Whether it failed is its caller's business, not that of the next one.
    const over = turn.then(
      () => undefined,
      () => undefined,
    );
    last.set(tenantId, over);
    try {
      return await turn;
    } finally {
      if (last.get(tenantId) === over) last.delete(tenantId);
    }
  };
}
