import type { SQL } from 'drizzle-orm';
import { and, type Database, eq, inArray, type Sql, subscriptions } from '../../db/index.ts';
import type { EmitterName } from '../../contract/index.ts';

export type SubscriptionRow = typeof subscriptions.$inferSelect;

/** Those of `ids` that are the account's, in no order. */
export async function readSubscriptions(
  db: Database,
  accountId: string,
  ids: readonly string[],
): Promise<SubscriptionRow[]> {
  return db.orm
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.accountId, accountId), inArray(subscriptions.id, [...ids])));
}

/** Names of those `ids` that are the account's, in no order. */
export function readEmitterNames(sql: Sql, accountId: string, ids: readonly string[]): Promise<EmitterName[]> {
  return sql<EmitterName[]>`
    select id, name from emitters where account_id = ${accountId} and id = any(${[...ids]}::text[]) and deleted_at is null`;
}

/** The condition that names one subscription of an account. */
export function subscriptionByKey(key: {
  accountId: string;
  emitterId: string;
  listenerId: string;
  eventName: string;
}): SQL | undefined {
  return and(
    eq(subscriptions.accountId, key.accountId),
    eq(subscriptions.emitterId, key.emitterId),
    eq(subscriptions.listenerId, key.listenerId),
    eq(subscriptions.eventName, key.eventName),
  );
}
