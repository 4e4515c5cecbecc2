/** Bytes that each tenant's streams have read and their clients have not received. */
export interface StreamBytes {
  /**
   * Resolves when the tenant may read more: there is room, or nothing of it is held; or when
   * `signal` fires.
   */
  room(tenantId: string, signal: AbortSignal): Promise<void>;
  /** Below 0: they were taken. */
  add(tenantId: string, bytes: number): void;
}

interface Tenant {
  bytes: number;
  waiting: Set<() => void>;
}

/**
 * Beyond `maxBytes` no stream of the tenant reads on. A tenant with slow clients must not use
 * memory for each of its streams.
 */
export function createStreamBytes(maxBytes: number): StreamBytes {
  const tenants = new Map<string, Tenant>();

  return {
    async room(tenantId, signal) {
      for (;;) {
        const tenant = tenants.get(tenantId);
        if (tenant === undefined || tenant.bytes < maxBytes || signal.aborted) return;
        await new Promise<void>((resolve) => {
          const wake = () => {
            tenant.waiting.delete(wake);
            signal.removeEventListener('abort', wake);
            resolve();
          };
          tenant.waiting.add(wake);
          signal.addEventListener('abort', wake);
        });
      }
    },
    add(tenantId, bytes) {
      const tenant = tenants.get(tenantId) ?? { bytes: 0, waiting: new Set() };
      tenants.set(tenantId, tenant);
      tenant.bytes += bytes;
      if (tenant.bytes >= maxBytes) return;
      // Those that wait keep the tenant: they look it up again.
      for (const wake of tenant.waiting) wake();
      if (tenant.bytes <= 0) tenants.delete(tenantId);
    },
  };
}
