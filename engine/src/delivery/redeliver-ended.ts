import { HeadwaterError, notFound } from '@headwater/shared';
import type { WebhookRecord } from '../contract.ts';
import type { Database } from '../store/database.ts';
import { readDeliveries } from '../store/read-deliveries.ts';
import { redeliver } from '../store/redeliver.ts';

/** See Webhooks.redeliver. */
export async function redeliverEnded(
  db: Database,
  accountId: string,
  { id, active }: WebhookRecord,
  deliveryId: string | undefined,
): Promise<number> {
  if (!active) throw new HeadwaterError('CONFLICT', `Webhook ${id} is stopped; set active to true to deliver to it`);
  const count = await redeliver(db.sql, accountId, id, deliveryId);
  if (count > 0 || deliveryId === undefined) return count;
  const [delivery] = await readDeliveries(db, accountId, id, [deliveryId]);
  if (delivery === undefined) throw notFound('delivery', deliveryId);
  const reason = delivery.status === 'pending' ? 'has not ended yet' : 'is of an event that was deleted';
  throw new HeadwaterError('CONFLICT', `Delivery ${deliveryId} ${reason}`);
}
