import { and, eq, isNotNull, isNull } from 'drizzle-orm';
import type { Database, OrmTransaction } from './database.ts';
import { type SubscriptionRow, subscriptionByKey } from './read-subscriptions.ts';
import { sources, subscriptions, webhooks } from './schema.ts';

export interface NewSubscription {
  id: string;
  accountId: string;
  emitterId: string;
  listenerId: string;
  eventName: string;
}

export type SubscriptionOutcome =
  | { kind: 'subscribed'; row: SubscriptionRow }
  | { kind: 'unknown-emitter' }
  | { kind: 'unknown-listener' };

/**
 * Subscribes, or answers the subscription that exists. Source and webhook are locked against deletion meanwhile, so that
 * neither is gone when the subscription lands. `isGlob`: the emitter is a pattern and no row.
 */
export async function createSubscription(
  db: Database,
  subscription: NewSubscription,
  isGlob: boolean,
): Promise<SubscriptionOutcome> {
  const { accountId, emitterId, listenerId } = subscription;
  return db.orm.transaction(async (tx) => {
    if (!isGlob && !(await lockSource(tx, accountId, emitterId))) return { kind: 'unknown-emitter' };
    if (!(await lockWebhook(tx, accountId, listenerId))) return { kind: 'unknown-listener' };
    const [made] = await tx.insert(subscriptions).values(subscription).onConflictDoNothing().returning();
    if (made !== undefined) return { kind: 'subscribed', row: made };
    const [known] = await tx.select().from(subscriptions).where(subscriptionByKey(subscription));
    if (known === undefined)
      throw new Error(`Subscription of ${listenerId} to ${emitterId} went away while it was made`);
    return { kind: 'subscribed', row: known };
  });
}

async function lockSource(tx: OrmTransaction, accountId: string, id: string): Promise<boolean> {
  const rows = await tx
    .select({ id: sources.id })
    .from(sources)
    .where(
      and(
        eq(sources.accountId, accountId),
        eq(sources.id, id),
        isNull(sources.deletedAt),
        isNotNull(sources.deployedAt),
      ),
    )
    .for('share');
  return rows.length > 0;
}

async function lockWebhook(tx: OrmTransaction, accountId: string, id: string): Promise<boolean> {
  const rows = await tx
    .select({ id: webhooks.id })
    .from(webhooks)
    .where(and(eq(webhooks.accountId, accountId), eq(webhooks.id, id)))
    .for('key share');
  return rows.length > 0;
}
