import { createPresence } from '@headwater/shared';
import { chooseShare, type Line } from './choose-share.ts';

export interface SharesOptions<T> {
  tenantOf: (item: T) => string;
  weightOf: (item: T) => number;
  maxWeight: number;
  /**
   * Of one tenant, while others are here who bring little. Whoever has more than half of that waiting is heavy, and has shares beside
   * those of the others. Default: nobody is, and one tenant may have all.
   */
  maxTenantWeight?: number;
  /** Default: the process's clock. */
  nowMs?: () => number;
}

export type ShareKind = 'light' | 'heavy';

interface Share<T> {
  items: T[];
  /** Until this is called no other share has anything of its tenants, so the order of each is kept. Idempotent. */
  end(): void;
}

/** What waits, by tenant. */
export interface Shares<T> {
  push(item: T): void;
  /**
   * The next ones of that kind, at most so many and together no heavier than `maxWeight`: one of each tenant in turn, the order of each
   * tenant kept. The first is taken whatever it weighs; whoever is served first is last the next time.
   */
  take(kind: ShareKind, maxItems: number): Share<T>;
  /** How many there are of that kind, whose tenants have no share under way. */
  count(kind: ShareKind): number;
  size(): number;
}

export function createShares<T>(options: SharesOptions<T>): Shares<T> {
  const { tenantOf, weightOf, maxWeight, maxTenantWeight, nowMs = () => performance.now() } = options;
  // In the order of their turns.
  const lines = new Map<string, Line<T>>();
  const underWay = new Set<string>();
  const presence = createPresence();
  let size = 0;

  function waiting(kind: ShareKind): [string, Line<T>][] {
    const heavyFrom = maxTenantWeight === undefined ? Number.POSITIVE_INFINITY : maxTenantWeight / 2;
    const isHeavy = (tenant: string, { weight }: Line<T>) =>
      weight > heavyFrom && presence.hasLightOther(tenant, nowMs());
    return [...lines].filter(([tenant, line]) => !underWay.has(tenant) && isHeavy(tenant, line) === (kind === 'heavy'));
  }

  function remove(tenant: string, part: Line<T>): void {
    const { items, weight } = lines.get(tenant) as Line<T>;
    size -= part.items.length;
    if (part.items.length === items.length) lines.delete(tenant);
    else lines.set(tenant, { items: items.slice(part.items.length), weight: weight - part.weight });
  }

  function moveToTheEnd(tenant: string): void {
    const left = lines.get(tenant);
    if (left === undefined) return;
    lines.delete(tenant);
    lines.set(tenant, left);
  }

  return {
    push(item) {
      const tenant = tenantOf(item);
      presence.saw(tenant, nowMs());
      const line = lines.get(tenant) ?? { items: [], weight: 0 };
      line.items.push(item);
      line.weight += weightOf(item);
      lines.set(tenant, line);
      size++;
    },
    take(kind, maxItems) {
      const open = waiting(kind);
      const maxPart = (kind === 'heavy' ? maxTenantWeight : undefined) ?? maxWeight;
      const { items, parts } = chooseShare(open, { maxItems, maxWeight, maxPart, weightOf });
      for (const [tenant, part] of parts) {
        remove(tenant, part);
        underWay.add(tenant);
      }
      const [first] = open;
      if (first !== undefined) moveToTheEnd(first[0]);
      const tenants = [...parts.keys()];
      return {
        items,
        end() {
          for (const tenant of tenants.splice(0)) underWay.delete(tenant);
        },
      };
    },
    count: (kind) => waiting(kind).reduce((sum, [, { items }]) => sum + items.length, 0),
    size: () => size,
  };
}
