import { and, type Database, deliveries, eq, inArray, webhooks } from '../../db/index.ts';
import type { DeliveryRecord } from '../../contract/index.ts';

/** Those of `ids` that are of these webhooks of the account, in no order. */
export async function readDeliveries(
  db: Database,
  accountId: string,
  webhookIds: readonly string[],
  ids: readonly string[],
): Promise<DeliveryRecord[]> {
  const rows = await db.orm
    .select({ delivery: deliveries, isActive: webhooks.active })
    .from(deliveries)
    .leftJoin(webhooks, eq(webhooks.id, deliveries.webhookId))
    .where(
      and(
        eq(deliveries.accountId, accountId),
        inArray(deliveries.webhookId, [...webhookIds]),
        inArray(deliveries.id, [...ids]),
      ),
    );
  return rows.map(({ delivery, isActive }) => recordOf(delivery, isActive ?? true));
}

/**
 * The webhook of a delivery: one of those that the account has now. Each is one look at the key.
 */
export async function findDeliveryWebhook(
  { sql }: Database,
  accountId: string,
  deliveryId: string,
): Promise<string | undefined> {
  const [row] = await sql<{ webhook_id: string }[]>`
    select d.webhook_id from webhooks w cross join lateral (
      select webhook_id from deliveries where webhook_id = w.id and id = ${deliveryId} and account_id = ${accountId} limit 1
    ) as d where w.account_id = ${accountId} limit 1`;
  return row?.webhook_id;
}

function shownStatus(
  { status, leasedBy }: typeof deliveries.$inferSelect,
  isActive: boolean,
): DeliveryRecord['status'] {
  if (status !== 'pending') return status;
  if (leasedBy !== null) return 'sending';
  return isActive ? 'pending' : 'held';
}

function recordOf(row: typeof deliveries.$inferSelect, isActive: boolean): DeliveryRecord {
  const status = shownStatus(row, isActive);
  return {
    id: row.id,
    webhookId: row.webhookId,
    emitterId: row.emitterId,
    eventId: `${row.indexedAtMs}-${row.seq}`,
    status,
    ...(row.errorClass === null ? {} : { errorClass: row.errorClass }),
    attempts: row.attempts,
    // Infinity: it waits for another of its key.
    ...(status === 'pending' && Number.isFinite(Number(row.nextAttemptAt)) ? { nextAttemptAt: row.nextAttemptAt } : {}),
    ...(row.replayId === null ? {} : { replayId: row.replayId }),
    createdAt: row.createdAt,
  };
}

/** The whole answer to an attempt, if its record has not all of it. */
export async function readDeliveryResponse(
  { sql }: Database,
  { webhookId, id }: Pick<DeliveryRecord, 'webhookId' | 'id'>,
  atMs: number,
): Promise<Buffer | undefined> {
  const [row] = await sql<{ body: Buffer }[]>`
    select body from delivery_responses where webhook_id = ${webhookId} and delivery_id = ${id} and at_ms = ${atMs}::int8`;
  return row?.body;
}
