import {
  and,
  autoSubscriptions,
  type Database,
  eq,
  notifyWebhookChanged,
  subscriptions,
  webhooks,
} from '../../db/index.ts';
import type { ExpectedRevisions } from '../../contract/index.ts';
import { ofRevision } from './update-webhook.sql.ts';

/**
 * Deletes a webhook with its subscriptions, and notifies all nodes. `cancelDeliveries` handles its
 * pending deliveries. A run that commits at the same moment may still add some: they are cancelled
 * when they are claimed. False: the webhook does not exist or has none of these revisions, and
 * nothing is done.
 */
export async function deleteWebhook(
  db: Database,
  accountId: string,
  id: string,
  expected?: ExpectedRevisions,
): Promise<boolean> {
  return db.orm.transaction(async (tx) => {
    // The webhook first: a subscription being made holds its row, and is seen once this has waited
    // for it.
    const gone = await tx
      .delete(webhooks)
      .where(and(eq(webhooks.accountId, accountId), eq(webhooks.id, id), ofRevision(expected)))
      .returning({ id: webhooks.id });
    if (gone.length === 0) return false;
    // Before the subscriptions: see subscribeNewEmitter.
    await tx
      .delete(autoSubscriptions)
      .where(and(eq(autoSubscriptions.accountId, accountId), eq(autoSubscriptions.listenerId, id)));
    await tx.delete(subscriptions).where(and(eq(subscriptions.accountId, accountId), eq(subscriptions.listenerId, id)));
    await notifyWebhookChanged(tx, id);
    return true;
  });
}
