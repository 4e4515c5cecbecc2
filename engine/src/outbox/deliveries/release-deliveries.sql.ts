import type { DueDelivery } from './due-delivery.ts';
import { addJobs, type Sql } from '../../db/index.ts';
import { lanesOfWaiting } from './deliver-lane.ts';

interface Freed {
  accountId: string;
  webhookId: string;
}

/**
 * Gives back pending deliveries that a node has leased: all of them (the node ends, or was found
 * dead), or those given. Lane jobs that pick them up are added in the same transaction. Answers how
 * many there were.
 */
export async function releaseDeliveries(sql: Sql, nodeId: string, only?: { ids: readonly string[] }): Promise<number> {
  return sql.begin(async (tx) => {
    const rows = await tx<Freed[]>`
      update deliveries set leased_by = null
      where status = 'pending' and leased_by = ${nodeId}
        ${only === undefined ? tx`` : tx`and id = any(${[...only.ids]}::text[])`}
      returning account_id as "accountId", webhook_id as "webhookId"`;
    await addJobs(tx, lanesOfWaiting(rows));
    return rows.length;
  });
}

/**
 * Gives back deliveries that a node has leased and not begun. Those cancelled meanwhile stay
 * cancelled and lose their lease, which would block a redelivery. The others get lane jobs, due at
 * `runAtMs` (default now).
 */
export async function releaseUnbegun(
  sql: Sql,
  nodeId: string,
  unbegun: readonly Pick<DueDelivery, 'webhookId' | 'id'>[],
  runAtMs?: number,
): Promise<void> {
  await sql.begin(async (tx) => {
    // By the primary key: those that were cancelled are in no other index.
    const rows = await tx<Freed[]>`
      with held as (
        select d.webhook_id, d.id from unnest(
          ${unbegun.map(({ webhookId }) => webhookId)}::text[], ${unbegun.map(({ id }) => id)}::text[]
        ) as u(webhook_id, id) join deliveries d using (webhook_id, id)
        where d.leased_by = ${nodeId} order by d.webhook_id, d.id for update of d
      ), released as (
        update deliveries d set leased_by = null from held
        where d.webhook_id = held.webhook_id and d.id = held.id
        returning d.account_id, d.webhook_id, d.status
      )
      select distinct account_id as "accountId", webhook_id as "webhookId" from released where status = 'pending'`;
    await addJobs(tx, lanesOfWaiting(rows, runAtMs));
  });
}
