import { HeadwaterError, notFound } from '@headwater/shared';
import type { WebhookRecord } from '../../contract/engine.ts';
import type { RedeliveryChoice } from '../../contract/deliveries.ts';
import type { Database } from '../../db/database.ts';
import { readDeliveries } from './read-deliveries.sql.ts';
import { redeliverFailed, redeliverOne } from './redeliver.sql.ts';

/** See Webhooks.redeliver. */
export async function redeliverEnded(
  db: Database,
  accountId: string,
  { id, active }: Pick<WebhookRecord, 'id' | 'active'>,
  what: string | RedeliveryChoice = {},
): Promise<number> {
  if (!active) throw new HeadwaterError('CONFLICT', `Webhook ${id} is stopped; set active to true to deliver to it`);
  if (typeof what !== 'string') return redeliverFailed(db.sql, accountId, id, what);
  const count = await redeliverOne(db.sql, accountId, id, what);
  if (count > 0) return count;
  const [delivery] = await readDeliveries(db, accountId, [id], [what]);
  if (delivery === undefined) throw notFound('delivery', what);
  const isUnderWay = delivery.status === 'pending' || delivery.status === 'sending';
  const reason = isUnderWay ? 'has not ended yet' : 'is of an event that was deleted';
  throw new HeadwaterError('CONFLICT', `Delivery ${what} ${reason}`);
}
