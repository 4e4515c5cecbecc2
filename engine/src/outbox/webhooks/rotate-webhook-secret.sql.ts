import { and, type Database, eq, notifyWebhookChanged, sql, webhooks } from '../../db/index.ts';
import type { WebhookRow } from './read-webhooks.sql.ts';
import { addNoticeIn } from './webhook-notices.sql.ts';

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
    if (row === undefined) return undefined;
    await notifyWebhookChanged(tx, id);
    const previous_until_ms = row.previousSecretUntil?.getTime() ?? null;
    const about = { webhook_id: id, name: row.name, url: row.url, previous_until_ms };
    await addNoticeIn(tx, { type: 'webhook.secret_rotated', accountId, about });
    return row;
  });
}
