import { addJobs, type Sql } from '../../db/index.ts';
import { cancelNote } from '../cancel-note.ts';
import { deliverLane } from './deliver-lane.ts';
import { lockWebhooks, releaseNext } from './ordered-deliveries.sql.ts';

/** Cancels a delivery that waits. False: it does not. */
export async function skipDelivery(
  sql: Sql,
  { accountId, webhookId, id }: { accountId: string; webhookId: string; id: string },
): Promise<boolean> {
  return sql.begin(async (tx) => {
    await lockWebhooks(tx, [webhookId]);
    const { count } = await tx`
      update deliveries set status = 'cancelled', attempts = attempts || ${cancelNote('It was skipped', Date.now())}::text::jsonb
      where account_id = ${accountId} and webhook_id = ${webhookId} and id = ${id} and status = 'pending' and leased_by is null`;
    if (count === 0) return false;
    await releaseNext(tx, [{ webhookId, id }]);
    await addJobs(tx, [deliverLane(webhookId)]);
    return true;
  });
}
