import { newId, notFound } from '@headwater/shared';
import type { AccountRoom } from '../../accounts/index.ts';
import type { AutoSubscriptionRecord, AutoSubscriptions } from '../../contract/index.ts';
import { createAutoSubscription } from './create-auto-subscription.sql.ts';
import { type Database, inPageOrder, readPage } from '../../db/index.ts';
import { deleteAutoSubscription } from './delete-auto-subscription.sql.ts';
import { type AutoSubscriptionRow, readAutoSubscriptions } from './read-auto-subscriptions.sql.ts';
import { filterJson, readGivenFilter } from './given-filter.ts';
import { checkListenerKey, unknownListener } from './subscriptions.ts';

/** Subscribes each new source and workflow, before its first hook runs. */
export function createAutoSubscriptions({ db, room }: { db: Database; room: AccountRoom }): AutoSubscriptions {
  return {
    async create({ accountId }, key) {
      checkListenerKey(key);
      const { listenerId, eventName = '' } = key;
      const filter = readGivenFilter(key.filter);
      const wanted = { id: newId('autoSubscription'), accountId, listenerId, eventName, filter };
      const id = await room.make(accountId, (limits) => createAutoSubscription(db.sql, wanted, limits));
      if (id === undefined) throw unknownListener(listenerId);
      const [row] = await readAutoSubscriptions(db, accountId, [id]);
      if (row === undefined) throw notFound('auto subscription', id);
      return recordOf(row);
    },
    async list({ accountId }, request) {
      const query = { table: 'auto_subscriptions', accountId, order: 'created' } as const;
      const { ids, ...page } = await readPage(db.sql, query, request);
      const rows = inPageOrder(ids, await readAutoSubscriptions(db, accountId, ids));
      return { ...page, items: rows.map(recordOf) };
    },
    async delete({ accountId }, key) {
      checkListenerKey(key);
      const { listenerId, eventName = '' } = key;
      const existed = await deleteAutoSubscription(db, { accountId, listenerId, eventName });
      if (!existed) throw notFound('auto subscription', `of ${listenerId}${eventName && ` to ${eventName}`}`);
    },
  };
}

function recordOf(row: AutoSubscriptionRow): AutoSubscriptionRecord {
  const { id, listenerId, eventName, createdAt } = row;
  return { id, listenerId, eventName, filter: filterJson(row.filter), createdAt };
}
