import { type Database, subscriptions } from '../../db/index.ts';
import { subscriptionByKey } from './read-subscriptions.sql.ts';

/** Answers whether there was one. */
export async function deleteSubscription(db: Database, key: Parameters<typeof subscriptionByKey>[0]): Promise<boolean> {
  const rows = await db.orm.delete(subscriptions).where(subscriptionByKey(key)).returning({ id: subscriptions.id });
  return rows.length > 0;
}
