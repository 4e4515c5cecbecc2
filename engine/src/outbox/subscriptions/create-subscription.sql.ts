import type { AccountLimits } from '@headwater/shared';
import type { Sql, Transaction } from '../../db/index.ts';
import { lockEmitter, lockListener } from './lock-listener.sql.ts';
import { lockAccount, requireRoom } from '../../accounts/index.ts';

export interface NewSubscription {
  id: string;
  accountId: string;
  emitterId: string;
  listenerId: string;
  eventName: string;
  /** JSON text; null: none. Undefined: one that exists keeps its own. */
  filter: string | null | undefined;
}

type Filtered = Pick<NewSubscription, 'accountId' | 'filter'>;

/** `subscribed`: by the subscription with this id. */
export type SubscriptionOutcome =
  | { kind: 'subscribed'; id: string }
  | { kind: 'unknown-emitter' }
  | { kind: 'unknown-listener' };

/**
 * Subscribes, or answers the subscription that exists, with the filter that is given. Emitter and
 * listener are locked against deletion meanwhile, so that neither is gone when the subscription
 * lands. `isGlob`: the emitter is a pattern and no row. Throws CONFLICT where the account has as
 * many as it may have.
 */
export async function createSubscription(
  sql: Sql,
  subscription: NewSubscription,
  isGlob: boolean,
  limits: Pick<AccountLimits, 'maxSubscriptions'>,
): Promise<SubscriptionOutcome> {
  const { id, accountId, emitterId, listenerId, eventName, filter = null } = subscription;
  return sql.begin(async (tx): Promise<SubscriptionOutcome> => {
    await lockAccount(tx, accountId);
    if (!isGlob && !(await lockEmitter(tx, accountId, emitterId))) return { kind: 'unknown-emitter' };
    if (!(await lockListener(tx, accountId, listenerId))) return { kind: 'unknown-listener' };
    const [known] = await tx<{ id: string }[]>`
      select id from subscriptions where account_id = ${accountId} and emitter_id = ${emitterId}
        and listener_id = ${listenerId} and event_name = ${eventName}`;
    if (known !== undefined) {
      await setFilter(tx, known.id, subscription);
      return { kind: 'subscribed', id: known.id };
    }
    await requireRoom(tx, accountId, limits, 'maxSubscriptions');
    const [made] = await tx<{ id: string }[]>`
      insert into subscriptions (id, account_id, emitter_id, listener_id, event_name, filter)
      values (${id}, ${accountId}, ${emitterId}, ${listenerId}, ${eventName}, ${filter})
      on conflict (account_id, emitter_id, listener_id, event_name)
      do update set event_name = excluded.event_name returning id`;
    if (made !== undefined && made.id !== id) await setFilter(tx, made.id, subscription);
    return { kind: 'subscribed', id: made?.id ?? id };
  });
}

/**
 * Answers whether the account has the subscription, and, where `seen` is given, with that filter.
 */
export async function setFilter(
  sql: Sql | Transaction,
  id: string,
  { accountId, filter, seen }: Filtered & { seen?: string | null },
): Promise<boolean> {
  if (filter === undefined) return true;
  const rows = await sql`
    update subscriptions set filter = ${filter},
      filter_changed_at = case when filter is distinct from ${filter}::text then now() else filter_changed_at end
    where id = ${id} and account_id = ${accountId}
      ${seen === undefined ? sql`` : sql`and filter is not distinct from ${seen}::text`}`;
  return rows.count > 0;
}
