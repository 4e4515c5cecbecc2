/**
 * Bytes that one tenant holds in memory at a time. Limits of one request times many requests at
 * once is still too much for a node, and the sum over tenants is not one tenant's to use up.
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
