import { and, eq, sql } from './drizzle.ts';
import { cancelNote } from './cancel-note.ts';
import type { OrmTransaction } from './database.ts';
import { deliveries } from './schema.ts';

/**
 * Cancels what of a webhook's deliveries is pending, in the transaction that stops or deletes the webhook. The lease of an
 * attempt in flight stays, so that its outcome can still be recorded.
 */
export async function cancelDeliveries(
  tx: OrmTransaction,
  accountId: string,
  webhookId: string,
  reason: string,
): Promise<void> {
  await tx
    .update(deliveries)
    .set({
      status: 'cancelled',
      attempts: sql`${deliveries.attempts} || ${cancelNote(reason, Date.now())}::text::jsonb`,
    })
    .where(
      and(eq(deliveries.accountId, accountId), eq(deliveries.webhookId, webhookId), eq(deliveries.status, 'pending')),
    );
}
