import { createKnownLimits, type LimitsCache } from '../../accounts/index.ts';
import type { Log } from '../../contract/index.ts';
import type { OutgoingShare } from '../sender.ts';

/**
 * The share of each account in a node's deliveries; undefined while its limits are not known, or it
 * is suspended. `onKnown` is called when there is a share where there was none.
 */
export function createDeliveryShares(
  limits: Pick<LimitsCache, 'known' | 'get' | 'isSuspended'>,
  log: Log,
  onKnown: (accountId: string) => void,
): (accountId: string) => OutgoingShare | undefined {
  const limitsOf = createKnownLimits({ limits, onKnown, log });
  return (accountId) => {
    const known = limitsOf(accountId);
    if (known === undefined || limits.isSuspended(accountId)) return undefined;
    return { maxAtOnce: known.maxDeliveryConnections, perSecond: known.maxDeliveriesPerSecond };
  };
}
