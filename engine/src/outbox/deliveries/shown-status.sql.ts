import type { Sql, Transaction } from '../../db/index.ts';

/**
 * The status that is shown for a delivery `d` of the webhook `w`: `pending` is split by its cause.
 */
export const shownStatus = (sql: Sql | Transaction) => sql`
  case when d.status <> 'pending' then d.status when d.leased_by is not null then 'sending'
    when not w.active then 'held' else 'pending' end`;
