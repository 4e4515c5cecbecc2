import { notFound } from '@headwater/shared';
import type { Page, PageRequest, Principal, WebhookRecord, Webhooks } from '../contract.ts';
import type { DeliveryRecord } from '../contract-deliveries.ts';
import type { Database } from '../store/database.ts';
import { type DeliveryQuery, pageDeliveries } from '../store/page-deliveries.ts';
import { inPageOrder } from '../store/paging.ts';
import { findDeliveryWebhook, readDeliveries } from '../store/read-deliveries.ts';
import { countRedeliverable } from '../store/redeliver.ts';
import { redeliverEnded } from './redeliver-ended.ts';

/** Deliveries of events to webhooks. `find`: a webhook of the account; throws NOT_FOUND. */
export function createDeliveries(
  db: Database,
  find: (who: Principal, webhookId: string) => Promise<WebhookRecord>,
): Pick<Webhooks, 'deliveries' | 'delivery' | 'redeliver' | 'countRedeliverable'> {
  return {
    async deliveries(who, id, request, choice = {}) {
      if (id !== undefined) await find(who, id);
      return list(db, { ...choice, accountId: who.accountId, webhookId: id }, request);
    },
    async delivery({ accountId }, deliveryId) {
      const webhookId = deliveryId.includes('\0') ? undefined : await findDeliveryWebhook(db, accountId, deliveryId);
      const [delivery] = webhookId === undefined ? [] : await readDeliveries(db, accountId, [webhookId], [deliveryId]);
      if (delivery === undefined) throw notFound('delivery', deliveryId);
      return delivery;
    },
    async redeliver(who, id, what) {
      return redeliverEnded(db, who.accountId, await find(who, id), what);
    },
    async countRedeliverable(who, id, choice) {
      await find(who, id);
      return countRedeliverable(db.sql, who.accountId, id, choice);
    },
  };
}

async function list(db: Database, query: DeliveryQuery, request: PageRequest): Promise<Page<DeliveryRecord>> {
  const { keys, ...page } = await pageDeliveries(db.sql, query, request);
  const ids = keys.map(({ id }) => id);
  const webhookIds = new Set(keys.map(({ webhookId }) => webhookId));
  return { ...page, items: inPageOrder(ids, await readDeliveries(db, query.accountId, [...webhookIds], ids)) };
}
