import type { DueDelivery } from './due-delivery.ts';

interface Share {
  count: number;
  bytes: number;
}

/** What a node holds of deliveries, from their lease to what was recorded of them: in all, and of each tenant. */
export interface HeldDeliveries {
  add(delivery: DueDelivery): void;
  remove(delivery: DueDelivery): void;
  of(accountId: string): Readonly<Share>;
  bytes(): number;
}

const NOTHING: Share = { count: 0, bytes: 0 };

export function createHeldDeliveries(): HeldDeliveries {
  const shares = new Map<string, Share>();
  let bytes = 0;

  function count({ accountId, data }: DueDelivery, by: 1 | -1): void {
    bytes += by * data.length;
    const share = shares.get(accountId) ?? { count: 0, bytes: 0 };
    share.count += by;
    share.bytes += by * data.length;
    if (share.count === 0) shares.delete(accountId);
    else shares.set(accountId, share);
  }

  return {
    add: (delivery) => count(delivery, 1),
    remove: (delivery) => count(delivery, -1),
    of: (accountId) => shares.get(accountId) ?? NOTHING,
    bytes: () => bytes,
  };
}
