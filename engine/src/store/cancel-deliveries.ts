import { cancelNote } from './cancel-note.ts';
import type { Transaction } from './database.ts';

/**
 * Cancels what of a webhook's deliveries is pending, in the transaction that stops or deletes the webhook. The lease of an
 * attempt in flight stays, so that its outcome can still be recorded.
 */
export async function cancelDeliveries(
  tx: Transaction,
  accountId: string,
  webhookId: string,
  reason: string,
): Promise<void> {
  await tx`
    update deliveries set status = 'cancelled', attempts = attempts || ${cancelNote(reason, Date.now())}::text::jsonb
    where account_id = ${accountId} and webhook_id = ${webhookId} and status = 'pending'`;
}
