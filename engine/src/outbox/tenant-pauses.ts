/** Calls `resume` for a tenant after its pause, however often the pause is asked for meanwhile. */
export function createTenantPauses(resume: (tenantId: string) => void): (tenantId: string, ms: number) => void {
  const paused = new Set<string>();
  return (tenantId, ms) => {
    if (paused.has(tenantId)) return;
    paused.add(tenantId);
    const end = () => {
      paused.delete(tenantId);
      resume(tenantId);
    };
    setTimeout(end, ms).unref();
  };
}
