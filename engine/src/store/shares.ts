interface SharesOptions<T> {
  tenantOf: (item: T) => string;
  weightOf: (item: T) => number;
  maxWeight: number;
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

export function createShares<T>({ tenantOf, weightOf, maxWeight }: SharesOptions<T>): Shares<T> {
  // In the order of their turns.
  const lines = new Map<string, T[]>();
  let size = 0;

  /** How many of each line make the next share. */
  function choose(maxItems: number): { taken: T[]; counts: Map<string, number> } {
    const taken: T[] = [];
    const counts = new Map<string, number>();
    let weight = 0;
    for (let open = [...lines]; open.length > 0 && taken.length < maxItems; ) {
      open = open.filter(([tenant, items]) => {
        const count = counts.get(tenant) ?? 0;
        const item = items[count];
        if (item === undefined || taken.length === maxItems) return false;
        const heavier = weight + weightOf(item);
        if (taken.length > 0 && heavier > maxWeight) return false;
        weight = heavier;
        taken.push(item);
        counts.set(tenant, count + 1);
        return true;
      });
    }
    return { taken, counts };
  }

  function remove(tenant: string, count: number): void {
    const rest = lines.get(tenant)?.slice(count) ?? [];
    if (rest.length === 0) lines.delete(tenant);
    else lines.set(tenant, rest);
  }

  return {
    push(item) {
      const tenant = tenantOf(item);
      const line = lines.get(tenant);
      if (line === undefined) lines.set(tenant, [item]);
      else line.push(item);
      size++;
    },
    take(maxItems) {
      const [first] = lines;
      const { taken, counts } = choose(maxItems);
      for (const [tenant, count] of counts) remove(tenant, count);
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
