import type { Database } from './database.ts';
import { lockEmitter, lockListener } from './lock-listener.ts';
import { type SubscriptionRow, subscriptionByKey } from './read-subscriptions.ts';
import { subscriptions } from './schema.ts';

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
 * Subscribes, or answers the subscription that exists. Emitter and listener are locked against deletion meanwhile, so that
 * neither is gone when the subscription lands. `isGlob`: the emitter is a pattern and no row.
 */
export async function createSubscription(
  db: Database,
  subscription: NewSubscription,
  isGlob: boolean,
): Promise<SubscriptionOutcome> {
  const { accountId, emitterId, listenerId } = subscription;
  return db.orm.transaction(async (tx) => {
    if (!isGlob && !(await lockEmitter(tx, accountId, emitterId))) return { kind: 'unknown-emitter' };
    if (!(await lockListener(tx, accountId, listenerId))) return { kind: 'unknown-listener' };
    const [made] = await tx.insert(subscriptions).values(subscription).onConflictDoNothing().returning();
    if (made !== undefined) return { kind: 'subscribed', row: made };
    const [known] = await tx.select().from(subscriptions).where(subscriptionByKey(subscription));
    if (known === undefined)
      throw new Error(`Subscription of ${listenerId} to ${emitterId} went away while it was made`);
    return { kind: 'subscribed', row: known };
  });
}
