/**
 * Limits the bytes that one tenant holds in memory. A limit per request is not enough, because a
 * tenant may have many requests at once. A total over all tenants would let one tenant use it up.
 */
export interface ByteBudget {
  /**
   * Takes `bytes` more for a tenant; false where that would be over the limit, and then takes
   * nothing.
   */
  take(tenantId: string, bytes: number): boolean;
  release(tenantId: string, bytes: number): void;
  held(tenantId: string): number;
}

export function createByteBudget(maxBytesPerTenant: number): ByteBudget {
  const held = new Map<string, number>();
  return {
    take(tenantId, bytes) {
      const total = (held.get(tenantId) ?? 0) + bytes;
      if (total > maxBytesPerTenant) return false;
      held.set(tenantId, total);
      return true;
    },
    release(tenantId, bytes) {
      const rest = (held.get(tenantId) ?? 0) - bytes;
      if (rest > 0) held.set(tenantId, rest);
      else held.delete(tenantId);
    },
    held: (tenantId) => held.get(tenantId) ?? 0,
  };
}
