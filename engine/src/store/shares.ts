import { createPresence } from './presence.ts';

export interface SharesOptions<T> {
  tenantOf: (item: T) => string;
  weightOf: (item: T) => number;
  maxWeight: number;
  /** Of one tenant, while others have brought something lately. Default: `maxWeight`. */
  maxTenantWeight?: number;
  /** Default: the process's clock. */
  nowMs?: () => number;
}

/** What waits, by tenant. */
export interface Shares<T> {
  push(item: T): void;
  /**
   * The next ones, at most so many and together no heavier than `maxWeight`: one of each tenant in turn, the order of each
   * tenant kept. The first is taken whatever it weighs; whoever is served first is last the next time.
   */
  take(maxItems: number): T[];
  size(): number;
}

/** What a share has of one tenant. */
interface Part {
  count: number;
  weight: number;
}

export function createShares<T>(options: SharesOptions<T>): Shares<T> {
  const { tenantOf, weightOf, maxWeight, maxTenantWeight = maxWeight, nowMs = () => performance.now() } = options;
  // In the order of their turns.
  const lines = new Map<string, T[]>();
  const presence = createPresence();
  let size = 0;

  /** How many of each line make the next share. */
  function choose(maxItems: number): { taken: T[]; parts: Map<string, Part> } {
    const taken: T[] = [];
    const parts = new Map<string, Part>();
    const maxPart = presence.hasSeveral(nowMs()) ? maxTenantWeight : maxWeight;
    let weight = 0;
    for (let open = [...lines]; open.length > 0 && taken.length < maxItems; ) {
      open = open.filter(([tenant, items]) => {
        const part = parts.get(tenant) ?? { count: 0, weight: 0 };
        const item = items[part.count];
        if (item === undefined || taken.length === maxItems) return false;
        const more = weightOf(item);
        if (taken.length > 0 && weight + more > maxWeight) return false;
        if (part.count > 0 && part.weight + more > maxPart) return false;
        weight += more;
        taken.push(item);
        parts.set(tenant, { count: part.count + 1, weight: part.weight + more });
        return true;
      });
    }
    return { taken, parts };
  }

  function remove(tenant: string, count: number): void {
    const rest = lines.get(tenant)?.slice(count) ?? [];
    if (rest.length === 0) lines.delete(tenant);
    else lines.set(tenant, rest);
  }

  return {
    push(item) {
      const tenant = tenantOf(item);
      presence.saw(tenant, nowMs());
      const line = lines.get(tenant);
      if (line === undefined) lines.set(tenant, [item]);
      else line.push(item);
      size++;
    },
    take(maxItems) {
      const [first] = lines;
      const { taken, parts } = choose(maxItems);
      for (const [tenant, { count }] of parts) remove(tenant, count);
      size -= taken.length;
      const left = first && lines.get(first[0]);
      if (first !== undefined && left !== undefined) {
        lines.delete(first[0]);
        lines.set(first[0], left);
      }
      return taken;
    },
    size: () => size,
  };
}
