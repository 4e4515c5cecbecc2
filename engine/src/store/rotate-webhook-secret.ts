import type { Database } from './database.ts';
import { and, eq, sql } from './drizzle.ts';
import { notifyWebhookChanged } from './notify-changed.ts';
import type { WebhookRow } from './read-webhooks.ts';
import { webhooks } from './schema.ts';

interface NewSecret {
  accountId: string;
  id: string;
  /** Sealed already. */
  secret: string;
  /** How long the one before it signs as well. */
  overlapHours: number;
}

/**
 * Replaces a webhook's secret; one that was replaced before signs no more. Undefined where the
 * account has no such webhook.
 */
export async function rotateWebhookSecret(db: Database, next: NewSecret): Promise<WebhookRow | undefined> {
  const { accountId, id, secret, overlapHours } = next;
  const overlap =
    overlapHours === 0
      ? { previousSecret: null, previousSecretUntil: null }
      : {
          previousSecret: sql`${webhooks.secret}`,
          previousSecretUntil: sql`now() + make_interval(hours => ${overlapHours}::int4)`,
        };
  return db.orm.transaction(async (tx) => {
    const [row] = await tx
      .update(webhooks)
      .set({ secret, ...overlap, updatedAt: sql`now()`, revision: sql`${webhooks.revision} + 1` })
      .where(and(eq(webhooks.accountId, accountId), eq(webhooks.id, id)))
      .returning();
    if (row !== undefined) await notifyWebhookChanged(tx, id);
    return row;
  });
}
