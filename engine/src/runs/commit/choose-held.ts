import type { Deliverer, DeliveriesOf } from '../../outbox/index.ts';
import type { DeliveryRow, InvocationRow } from './event-rows.ts';

/** How much of what a commit makes its node takes on at once. The rest waits for any node. */
export interface NodeRoom {
  /**
   * How many of the new deliveries, in all and of one webhook, this node takes on at once; the rest
   * waits for any node.
   */
  deliveryCapacity: (of?: DeliveriesOf) => number;
  /** As Deliverer.sharedCapacity. Default: no webhooks share their capacity. */
  sharedDeliveryCapacity?: Deliverer['sharedCapacity'] | undefined;
  /** The same for invocations of sources that listen, by tenant. */
  runCapacity: (accountId: string) => number;
}

/** Deliveries that this node has room for, oldest first. */
export function chooseDeliveries(
  deliveries: readonly DeliveryRow[],
  { deliveryCapacity: capacity, sharedDeliveryCapacity }: NodeRoom,
): Set<DeliveryRow> {
  let left = capacity();
  const leftBy = new Map<string, number>();
  const sharedBy = new Map<string, number>();
  const held = new Set<DeliveryRow>();
  for (const delivery of deliveries) {
    const { accountId, webhookId, isHeld, settings } = delivery.listener;
    if (isHeld === true || settings?.isGoverned === true) continue;
    const ofAccount = leftBy.get(accountId) ?? capacity({ accountId });
    const ofWebhook = leftBy.get(webhookId) ?? capacity({ accountId, webhookId });
    if (left <= 0 || ofAccount <= 0 || ofWebhook <= 0) continue;
    const shared = sharedDeliveryCapacity?.({ accountId, webhookId }, settings?.isFailing) ?? Number.POSITIVE_INFINITY;
    if (shared < Number.POSITIVE_INFINITY) {
      const sharers = (sharedBy.get(accountId) ?? 0) + 1;
      if (sharers > shared) continue;
      sharedBy.set(accountId, sharers);
    }
    held.add(delivery);
    left--;
    leftBy.set(accountId, ofAccount - 1);
    leftBy.set(webhookId, ofWebhook - 1);
  }
  return held;
}

/** The same of invocations of sources that listen. */
export function chooseInvocations(
  invocations: readonly InvocationRow[],
  capacity: NodeRoom['runCapacity'],
): Set<InvocationRow> {
  const left = new Map<string, number>();
  return new Set(
    invocations.filter(({ event: { accountId }, inTurn }) => {
      if (inTurn) return false;
      const leftHere = left.get(accountId) ?? capacity(accountId);
      left.set(accountId, leftHere - 1);
      return leftHere > 0;
    }),
  );
}
