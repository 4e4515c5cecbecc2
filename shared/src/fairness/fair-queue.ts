/**
 * A fair queue. Items wait in lanes, and lanes belong to tenants. `next` rotates over the tenants,
 * and over the lanes within a tenant, so that a heavy tenant or lane does not delay others. Items
 * of a lane stay in order.
 */
export interface FairQueue<T> {
  push(tenant: string, lane: string, item: T): void;
  /** As push, but before everything that waits in the lane. */
  pushFirst(tenant: string, lane: string, item: T): void;
  /** The next item whose tenant and lane may run now, or undefined. */
  next(mayRun: (tenant: string, lane: string) => boolean, mayTenantRun?: (tenant: string) => boolean): T | undefined;
  size(): number;
  /** Takes out everything. */
  clear(): T[];
}

export function createFairQueue<T>(): FairQueue<T> {
  // Maps keep insertion order: a tenant or lane that was served is deleted and set again, which
  // puts it at the end.
  const tenants = new Map<string, Map<string, T[]>>();
  let size = 0;

  function takeFrom(tenant: string, lanes: Map<string, T[]>, lane: string, items: T[]): T {
    const item = items.shift() as T;
    size--;
    lanes.delete(lane);
    if (items.length > 0) lanes.set(lane, items);
    tenants.delete(tenant);
    if (lanes.size > 0) tenants.set(tenant, lanes);
    return item;
  }

  function laneOf(tenant: string, lane: string): T[] {
    const lanes = tenants.get(tenant) ?? new Map<string, T[]>();
    const items = lanes.get(lane) ?? [];
    lanes.set(lane, items);
    if (!tenants.has(tenant)) tenants.set(tenant, lanes);
    size++;
    return items;
  }

  return {
    push: (tenant, lane, item) => void laneOf(tenant, lane).push(item),
    pushFirst: (tenant, lane, item) => void laneOf(tenant, lane).unshift(item),
    next(mayRun, mayTenantRun = () => true) {
      for (const [tenant, lanes] of tenants) {
        // A tenant at its limit may have thousands of lanes: they are not looked at.
        if (!mayTenantRun(tenant)) continue;
        for (const [lane, items] of lanes) {
          if (mayRun(tenant, lane)) return takeFrom(tenant, lanes, lane, items);
        }
      }
      return undefined;
    },
    size: () => size,
    clear() {
      const all = [...tenants.values()].flatMap((lanes) => [...lanes.values()].flat());
      tenants.clear();
      size = 0;
      return all;
    },
  };
}
