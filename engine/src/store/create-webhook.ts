import type { Database } from './database.ts';
import type { WebhookRow } from './read-webhooks.ts';
import { webhooks } from './schema.ts';

/** `secret` is sealed already. */
export async function createWebhook(db: Database, webhook: typeof webhooks.$inferInsert): Promise<WebhookRow> {
  const [row] = await db.orm.insert(webhooks).values(webhook).returning();
  if (row === undefined) throw new Error(`Webhook ${webhook.id} was inserted and did not come back`);
  return row;
}
