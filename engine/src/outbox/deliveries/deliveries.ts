import { HeadwaterError, notFound } from '@headwater/shared';
import type { DeliveryRecord, Page, PageRequest, Principal, WebhookRecord, Webhooks } from '../../contract/index.ts';
import { type Database, inPageOrder } from '../../db/index.ts';
import { type DeliveryQuery, pageDeliveries } from './page-deliveries.sql.ts';
import { findDeliveryWebhook, readDeliveries, readDeliveryResponse } from './read-deliveries.sql.ts';
import { skipDelivery } from './skip-delivery.sql.ts';
import { readWebhookHealth } from '../webhooks/read-webhook-health.sql.ts';
import { countRedeliverable } from './redeliver.sql.ts';
import { redeliverChosen, redeliverEnded } from './redeliver-ended.ts';

/** The id of the delivery, and the millisecond in which the attempt began. */
const ATTEMPT_ID = /^(dlv_\w{1,64})-(\d{1,15})$/;

/** Deliveries of events to webhooks. `find`: a webhook of the account; throws NOT_FOUND. */
export function createDeliveries(
  db: Database,
  find: (who: Principal, webhookId: string) => Promise<WebhookRecord>,
): Pick<
  Webhooks,
  'deliveries' | 'delivery' | 'attempt' | 'health' | 'skip' | 'redeliver' | 'redeliverMatching' | 'countRedeliverable'
> {
  const findOne = async ({ accountId }: Principal, deliveryId: string) => {
    const webhookId = deliveryId.includes('\0') ? undefined : await findDeliveryWebhook(db, accountId, deliveryId);
    const [found] = webhookId === undefined ? [] : await readDeliveries(db, accountId, [webhookId], [deliveryId]);
    return found;
  };
  return {
    async deliveries(who, id, request, choice = {}) {
      if (id !== undefined) await find(who, id);
      return list(db, { ...choice, accountId: who.accountId, webhookId: id }, request);
    },
    async delivery(who, deliveryId) {
      const delivery = await findOne(who, deliveryId);
      if (delivery === undefined) throw notFound('delivery', deliveryId);
      return delivery;
    },
    async attempt(who, attemptId) {
      const [, deliveryId = '', atMs] = ATTEMPT_ID.exec(attemptId) ?? [];
      const delivery = atMs === undefined ? undefined : await findOne(who, deliveryId);
      const attempt = delivery?.attempts.find(({ at }) => Date.parse(at) === Number(atMs));
      if (delivery === undefined || attempt === undefined) throw notFound('attempt', attemptId);
      const apart = await readDeliveryResponse(db, delivery, Number(atMs));
      return { delivery, attempt, body: apart ?? Buffer.from(attempt.response ?? '') };
    },
    async skip(who, deliveryId) {
      const delivery = await findOne(who, deliveryId);
      if (delivery === undefined) throw notFound('delivery', deliveryId);
      const { webhookId } = delivery;
      if (!(await skipDelivery(db.sql, { accountId: who.accountId, webhookId, id: deliveryId }))) {
        const reason = delivery.status === 'sending' ? 'is being sent' : 'has ended';
        throw new HeadwaterError('CONFLICT', `Delivery ${deliveryId} ${reason}`);
      }
      return (await findOne(who, deliveryId)) ?? delivery;
    },
    async health(who, id, sinceMs) {
      const { currentRatePerSecond } = await find(who, id);
      const health = await readWebhookHealth(db.sql, { accountId: who.accountId, webhookId: id, sinceMs });
      return { ...health, ...(currentRatePerSecond === undefined ? {} : { currentRatePerSecond }) };
    },
    async redeliver(who, id, what) {
      return redeliverEnded(db, who.accountId, await find(who, id), what);
    },
    async redeliverMatching(who, id, choice) {
      return redeliverChosen(db, who.accountId, await find(who, id), choice);
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
