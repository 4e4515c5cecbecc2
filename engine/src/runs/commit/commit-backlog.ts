/** How heavy what each tenant has brought is until it is committed. */
export interface CommitBacklog {
  add(accountId: string, weight: number): void;
  /** True where the tenant was over the bound, and no longer is. */
  remove(accountId: string, weight: number): boolean;
  isFull(accountId: string): boolean;
}

export function createCommitBacklog(maxWeight: number): CommitBacklog {
  const tenants = new Map<string, { count: number; weight: number }>();
  const isFull = (accountId: string) => (tenants.get(accountId)?.weight ?? 0) >= maxWeight;
  return {
    add(accountId, weight) {
      const { count, weight: before } = tenants.get(accountId) ?? { count: 0, weight: 0 };
      tenants.set(accountId, { count: count + 1, weight: before + weight });
    },
    remove(accountId, weight) {
      const wasFull = isFull(accountId);
      const tenant = tenants.get(accountId);
      // Counted as well: a sum of fractions need not come back to nothing.
      if (tenant === undefined || tenant.count === 1) tenants.delete(accountId);
      else tenants.set(accountId, { count: tenant.count - 1, weight: tenant.weight - weight });
      return wasFull && !isFull(accountId);
    },
    isFull,
  };
}
