import { and, eq } from './drizzle.ts';
import type { Database } from './database.ts';
import { notifyWebhookChanged } from './notify-changed.ts';
import { autoSubscriptions, subscriptions, webhooks } from './schema.ts';

/**
 * Deletes a webhook with its subscriptions, and tells all nodes. Its pending deliveries are left to `cancelDeliveries`. A run that commits
 * at the same moment may still add deliveries to it: they are cancelled when they are claimed.
 */
export async function deleteWebhook(db: Database, accountId: string, id: string): Promise<void> {
  await db.orm.transaction(async (tx) => {
    // The webhook first: a subscription being made holds its row, and is seen once this has waited for it.
    await tx.delete(webhooks).where(and(eq(webhooks.accountId, accountId), eq(webhooks.id, id)));
    // Before the subscriptions: see subscribeNewEmitter.
    await tx
      .delete(autoSubscriptions)
      .where(and(eq(autoSubscriptions.accountId, accountId), eq(autoSubscriptions.listenerId, id)));
    await tx.delete(subscriptions).where(and(eq(subscriptions.accountId, accountId), eq(subscriptions.listenerId, id)));
    await notifyWebhookChanged(tx, id);
  });
}
