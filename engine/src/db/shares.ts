import { createActiveTenants } from '@headwater/shared';
import { chooseShare, type Line } from './choose-share.ts';
import { createTenantLines } from './tenant-lines.ts';

export interface SharesOptions<T> {
  tenantOf: (item: T) => string;
  weightOf: (item: T) => number;
  maxWeight: number;
  /**
   * Maximum weight of a tenant that gives way, in one share. A tenant with more than half of that
   * waiting is heavy. It has separate shares even when it is alone, so that a newcomer does not
   * wait for them. It gives way while a light tenant is active. Default: no tenant is heavy, and
   * one tenant may fill a share.
   */
  maxTenantWeight?: number;
  /** Default: the process's clock. */
  nowMs?: () => number;
}

export type ShareKind = 'light' | 'heavy';

interface Share<T> {
  items: T[];
  /** A heavy share was taken while a light tenant was active. */
  givesWay: boolean;
  /**
   * Until this is called no other share has anything of its tenants, so the order of each is kept.
   * Idempotent.
   */
  end(): void;
}

/** Waiting items by tenant. */
export interface Shares<T> {
  push(item: T): void;
  /**
   * Puts items that a share could not commit at the front of their tenants' lines. Those tenants
   * get heavy shares for a while. The share has not ended, so no other share has taken their items.
   */
  putBack(items: readonly T[]): void;
  /**
   * Takes the next items of that kind, at most `maxItems` and together no heavier than `maxWeight`.
   * Tenants take turns, and the order of each tenant is kept. The first item is taken whatever its
   * weight. The tenant that is served first is last the next time.
   */
  take(kind: ShareKind, maxItems: number): Share<T>;
  /** Number of items of that kind whose tenants have no share under way. */
  count(kind: ShareKind): number;
  /** Whether the waiting heavy items must give way. */
  givesWay(): boolean;
  size(): number;
}

/** A transaction that locked the rows once is likely to lock them again, commit after commit. */
const HELD_UP_MS = 1_000;

export function createShares<T>(options: SharesOptions<T>): Shares<T> {
  const { tenantOf, weightOf, maxWeight, maxTenantWeight, nowMs = () => performance.now() } = options;
  const lines = createTenantLines(weightOf);
  const underWay = new Set<string>();
  /** Tenants of which something was put back, */
  const heldUp = new Set<string>();
  /** and until when they are taken to be held up again. */
  const heldUpUntilMs = new Map<string, number>();
  const activeTenants = createActiveTenants();

  function waiting(kind: ShareKind): [string, Line<T>][] {
    const heavyFrom = maxTenantWeight === undefined ? Number.POSITIVE_INFINITY : maxTenantWeight / 2;
    const isHeavy = (tenant: string, { weight }: Line<T>) =>
      weight > heavyFrom || heldUp.has(tenant) || (heldUpUntilMs.get(tenant) ?? 0) > nowMs();
    return [...lines.all()].filter(
      ([tenant, line]) => !underWay.has(tenant) && isHeavy(tenant, line) === (kind === 'heavy'),
    );
  }

  const mustGiveWay = (kind: ShareKind, open: readonly [string, Line<T>][]) =>
    kind === 'heavy' && open.some(([tenant]) => activeTenants.hasLightOther(tenant, nowMs()));

  return {
    push(item) {
      const tenant = tenantOf(item);
      activeTenants.saw(tenant, nowMs());
      lines.add(tenant, item);
    },
    putBack(items) {
      for (const [tenant, ofTenant] of Map.groupBy(items, tenantOf)) {
        lines.putFirst(tenant, ofTenant);
        heldUp.add(tenant);
        heldUpUntilMs.set(tenant, nowMs() + HELD_UP_MS);
      }
      for (const [tenant, untilMs] of heldUpUntilMs) if (untilMs <= nowMs()) heldUpUntilMs.delete(tenant);
    },
    take(kind, maxItems) {
      const open = waiting(kind);
      const givesWay = mustGiveWay(kind, open);
      const maxPart = (givesWay ? maxTenantWeight : undefined) ?? maxWeight;
      const { items, parts } = chooseShare(open, { maxItems, maxWeight, maxPart, weightOf });
      for (const [tenant, part] of parts) {
        lines.remove(tenant, part);
        heldUp.delete(tenant);
        underWay.add(tenant);
      }
      const [first] = open;
      if (first !== undefined) lines.moveToTheEnd(first[0]);
      const tenants = [...parts.keys()];
      return {
        items,
        givesWay,
        end() {
          for (const tenant of tenants.splice(0)) underWay.delete(tenant);
        },
      };
    },
    count: (kind) => waiting(kind).reduce((sum, [, { items }]) => sum + items.length, 0),
    givesWay: () => mustGiveWay('heavy', waiting('heavy')),
    size: lines.size,
  };
}
