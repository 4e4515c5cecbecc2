import type { AccountLimits } from '@headwater/shared';
import type { Sql } from '../../db/index.ts';
import { lockListener } from './lock-listener.sql.ts';
import { lockAccount, requireRoom } from '../../accounts/index.ts';

export interface NewAutoSubscription {
  id: string;
  accountId: string;
  listenerId: string;
  eventName: string;
  /** JSON text; null: none. Undefined: one that exists keeps its own. */
  filter: string | null | undefined;
}

/**
 * Makes it, or finds the one that exists, and answers its id; undefined where the account has no
 * such listener. See createSubscription.
 */
export async function createAutoSubscription(
  sql: Sql,
  { id, accountId, listenerId, eventName, filter }: NewAutoSubscription,
  limits: Pick<AccountLimits, 'maxSubscriptions'>,
): Promise<string | undefined> {
  return sql.begin(async (tx) => {
    await lockAccount(tx, accountId);
    if (!(await lockListener(tx, accountId, listenerId))) return undefined;
    const [known] = await tx<{ id: string }[]>`
      select id from auto_subscriptions
      where account_id = ${accountId} and listener_id = ${listenerId} and event_name = ${eventName}`;
    if (known !== undefined) {
      if (filter !== undefined) await tx`update auto_subscriptions set filter = ${filter} where id = ${known.id}`;
      return known.id;
    }
    await requireRoom(tx, accountId, limits, 'maxSubscriptions');
    const [made] = await tx<{ id: string }[]>`
      insert into auto_subscriptions (id, account_id, listener_id, event_name, filter)
      values (${id}, ${accountId}, ${listenerId}, ${eventName}, ${filter ?? null}) on conflict (account_id, listener_id, event_name)
      do update set event_name = excluded.event_name returning id`;
    return made?.id;
  });
}
