import type { Database } from './database.ts';
import { lockListener } from './lock-listener.ts';
import { type AutoSubscriptionRow, autoSubscriptionByKey } from './read-auto-subscriptions.ts';
import { autoSubscriptions } from './schema.ts';

export interface NewAutoSubscription {
  id: string;
  accountId: string;
  listenerId: string;
  eventName: string;
}

/** Makes it, or answers the one that exists; undefined where the account has no such listener. See createSubscription. */
export async function createAutoSubscription(
  db: Database,
  wanted: NewAutoSubscription,
): Promise<AutoSubscriptionRow | undefined> {
  return db.orm.transaction(async (tx) => {
    if (!(await lockListener(tx, wanted.accountId, wanted.listenerId))) return undefined;
    const [made] = await tx.insert(autoSubscriptions).values(wanted).onConflictDoNothing().returning();
    if (made !== undefined) return made;
    const [known] = await tx.select().from(autoSubscriptions).where(autoSubscriptionByKey(wanted));
    if (known === undefined) throw new Error(`Auto subscription of ${wanted.listenerId} went away while it was made`);
    return known;
  });
}
