import type { Sql } from '../db/database.ts';
import { addJobs } from '../db/jobs/add-jobs.ts';
import { lanesOfWaiting } from '../outbox/deliveries/deliver-lane.ts';
import { sendLane } from '../outbox/sends/send-lane.ts';
import { runLane } from '../runs/insert-invocations.sql.ts';

/**
 * Adds lane jobs for all that waits of an account and that no node holds. Steps through the
 * account's emitters and webhooks, however much waits for each.
 */
export async function requeueAccount(sql: Sql, accountId: string): Promise<void> {
  const emitters = await sql<{ id: string }[]>`
    select e.id from emitters e where e.account_id = ${accountId} and e.deleted_at is null
      and exists (select from invocations i where i.leased_by is null and i.source_id = e.id)`;
  const webhooks = await sql<{ id: string }[]>`
    select w.id from webhooks w where w.account_id = ${accountId} and exists (
      select from deliveries d where d.status = 'pending' and d.leased_by is null and d.webhook_id = w.id
    )`;
  await addJobs(sql, [
    ...emitters.map(({ id }) => runLane(id)),
    ...lanesOfWaiting(webhooks.map(({ id }) => ({ accountId, webhookId: id }))),
    sendLane(accountId),
  ]);
}
