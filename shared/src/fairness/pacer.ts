/** Work of tenants ahead of their pace, as the time that must pass until they are even. */
export interface Pacer {
  owedMs(tenantId: string, nowMs: number): number;
  add(tenantId: string, ms: number, nowMs: number): void;
  forget(tenantId: string): void;
}

/** Remembers those alone that owe something. */
export function createPacer(): Pacer {
  const paidAtMs = new Map<string, number>();
  return {
    owedMs: (tenantId, nowMs) => Math.max(0, (paidAtMs.get(tenantId) ?? 0) - nowMs),
    add(tenantId, ms, nowMs) {
      if (ms <= 0) return;
      const before = Math.max(nowMs, paidAtMs.get(tenantId) ?? 0);
      if (!paidAtMs.has(tenantId)) for (const [other, atMs] of paidAtMs) if (atMs <= nowMs) paidAtMs.delete(other);
      paidAtMs.set(tenantId, before + ms);
    },
    forget: (tenantId) => void paidAtMs.delete(tenantId),
  };
}
