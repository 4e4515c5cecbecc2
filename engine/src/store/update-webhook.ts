import { and, eq, sql } from './drizzle.ts';
import type { WebhookUpdate } from '../contract.ts';
import { cancelDeliveries } from './cancel-deliveries.ts';
import type { Database } from './database.ts';
import type { WebhookRow } from './read-webhooks.ts';
import { webhooks } from './schema.ts';

/**
 * Changes the fields given; an empty name or description is removed. A webhook that becomes inactive has its pending
 * deliveries cancelled once it is. Undefined where the account has no such webhook.
 */
export async function updateWebhook(
  db: Database,
  accountId: string,
  id: string,
  change: WebhookUpdate,
): Promise<WebhookRow | undefined> {
  const [row] = await db.orm
    .update(webhooks)
    .set({
      ...(change.url === undefined ? {} : { url: change.url }),
      ...(change.format === undefined ? {} : { format: change.format }),
      ...(change.active === undefined ? {} : { active: change.active }),
      ...(change.name === undefined ? {} : { name: change.name || null }),
      ...(change.description === undefined ? {} : { description: change.description || null }),
      updatedAt: sql`now()`,
    })
    .where(and(eq(webhooks.accountId, accountId), eq(webhooks.id, id)))
    .returning();
  if (row !== undefined && change.active === false)
    await cancelDeliveries(db.sql, accountId, id, 'The webhook was stopped');
  return row;
}
