import { and, eq, inArray } from './drizzle.ts';
import type { Database } from './database.ts';
import { webhooks } from './schema.ts';

export type WebhookRow = typeof webhooks.$inferSelect;

/** Those of `ids` that are the account's, in no order. */
export async function readWebhooks(db: Database, accountId: string, ids: readonly string[]): Promise<WebhookRow[]> {
  return db.orm
    .select()
    .from(webhooks)
    .where(and(eq(webhooks.accountId, accountId), inArray(webhooks.id, [...ids])));
}
