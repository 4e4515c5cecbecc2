import { and, eq, inArray } from './drizzle.ts';
import type { DeliveryRecord } from '../contract.ts';
import type { Database } from './database.ts';
import { deliveries } from './schema.ts';

/** Those of `ids` that are the webhook's, in no order. */
export async function readDeliveries(
  db: Database,
  accountId: string,
  webhookId: string,
  ids: readonly string[],
): Promise<DeliveryRecord[]> {
  const rows = await db.orm
    .select()
    .from(deliveries)
    .where(
      and(eq(deliveries.accountId, accountId), eq(deliveries.webhookId, webhookId), inArray(deliveries.id, [...ids])),
    );
  return rows.map(recordOf);
}

function recordOf(row: typeof deliveries.$inferSelect): DeliveryRecord {
  return {
    id: row.id,
    webhookId: row.webhookId,
    emitterId: row.emitterId,
    eventId: `${row.indexedAtMs}-${row.seq}`,
    status: row.status,
    attempts: row.attempts,
    ...(row.status === 'pending' ? { nextAttemptAt: row.nextAttemptAt } : {}),
    createdAt: row.createdAt,
  };
}
