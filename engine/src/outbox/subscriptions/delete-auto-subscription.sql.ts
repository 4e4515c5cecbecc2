import { autoSubscriptions, type Database } from '../../db/index.ts';
import { autoSubscriptionByKey } from './read-auto-subscriptions.sql.ts';

/** Answers whether there was one. The subscriptions that it has made stay. */
export async function deleteAutoSubscription(
  db: Database,
  key: Parameters<typeof autoSubscriptionByKey>[0],
): Promise<boolean> {
  const rows = await db.orm
    .delete(autoSubscriptions)
    .where(autoSubscriptionByKey(key))
    .returning({ id: autoSubscriptions.id });
  return rows.length > 0;
}
