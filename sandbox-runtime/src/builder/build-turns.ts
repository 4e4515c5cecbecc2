import { LIMITS } from '@headwater/shared';
import type { ComponentBundle } from '../sandbox-types.ts';
import { BuildSlots, type BuildSlotsOptions } from './build-slots.ts';
import type { BuildLimits } from './packages/build-order.ts';

export interface BuildTurns {
  /** For components as far as they go without packages, and for bundles that were made earlier. */
  plain: Pick<BuildSlots, 'run'>;
  packages: Pick<BuildSlots, 'run'>;
  /**
   * Chars that `work` reports with `hold` count for the tenant until `work` ends. At
   * LIMITS.maxHeldBuildChars no build of the tenant begins. A bundle's size is known only when it
   * exists, so a build reports it before it ends.
   */
  holding<T>(tenantId: string, work: (hold: (bundle: ComponentBundle) => void) => Promise<T>): Promise<T>;
  /** From now on, builds no longer wait. */
  stop(): void;
}

/** A build that takes more than this share of the maximum time is slow. */
const SLOW_SHARE = 1 / 3;

export function createBuildTurns(limits: Pick<BuildLimits, 'buildMs' | 'bundleMs'>): BuildTurns {
  const heldChars = new Map<string, number>();
  let isStopping = false;
  const charsOf = (tenantId: string): number => heldChars.get(tenantId) ?? 0;
  const mayBegin = (tenantId: string): boolean => isStopping || charsOf(tenantId) < LIMITS.maxHeldBuildChars;
  const slots = (limitName: BuildSlotsOptions['limitName'], maxMs: number): BuildSlots => {
    const maxWaiting = LIMITS[limitName];
    const slowMs = maxMs * SLOW_SHARE;
    return new BuildSlots({ max: LIMITS.maxConcurrentBuilds, maxWaiting, limitName, slowMs, mayBegin });
  };
  const plain = slots('maxQueuedBundlesPerTenant', limits.bundleMs);
  const packages = slots('maxQueuedBuildsPerTenant', limits.buildMs);
  const look = (): void => {
    plain.look();
    packages.look();
  };
  function give(tenantId: string, chars: number): void {
    const left = charsOf(tenantId) - chars;
    if (left === 0) heldChars.delete(tenantId);
    else heldChars.set(tenantId, left);
    look();
  }
  return {
    plain,
    packages,
    async holding(tenantId, work) {
      let own = 0;
      const hold = ({ code, sourceMap }: ComponentBundle): void => {
        const chars = code.length + sourceMap.length;
        own += chars;
        heldChars.set(tenantId, charsOf(tenantId) + chars);
      };
      try {
        return await work(hold);
      } finally {
        give(tenantId, own);
      }
    },
    stop() {
      isStopping = true;
      look();
    },
  };
}
