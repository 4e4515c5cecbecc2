import type { SQL } from 'drizzle-orm';
import { and, autoSubscriptions, type Database, eq, inArray } from '../../db/index.ts';

export type AutoSubscriptionRow = typeof autoSubscriptions.$inferSelect;

/** Those of `ids` that are the account's, in no order. */
export async function readAutoSubscriptions(
  db: Database,
  accountId: string,
  ids: readonly string[],
): Promise<AutoSubscriptionRow[]> {
  return db.orm
    .select()
    .from(autoSubscriptions)
    .where(and(eq(autoSubscriptions.accountId, accountId), inArray(autoSubscriptions.id, [...ids])));
}

/** The condition that names one of an account. */
export function autoSubscriptionByKey(key: {
  accountId: string;
  listenerId: string;
  eventName: string;
}): SQL | undefined {
  return and(
    eq(autoSubscriptions.accountId, key.accountId),
    eq(autoSubscriptions.listenerId, key.listenerId),
    eq(autoSubscriptions.eventName, key.eventName),
  );
}
