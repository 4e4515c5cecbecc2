import { goesThroughLane } from './receiver-columns.sql.ts';
import type { Sql } from '../../db/index.ts';

/** The facts that the lane of a webhook reads before it claims. */
export interface LaneWebhook {
  accountId: string;
  /** False: pending deliveries are held. */
  active: boolean;
  /** Its deliveries are claimed by `claimGoverned`. */
  isGoverned: boolean;
  isFailing: boolean;
}

/** Undefined where the webhook is gone. */
export async function readLaneWebhook(sql: Sql, webhookId: string): Promise<LaneWebhook | undefined> {
  const [row] = await sql<LaneWebhook[]>`
    select w.account_id as "accountId", w.active, ${goesThroughLane(sql)} as "isGoverned", w.failing_since is not null as "isFailing"
    from webhooks w where w.id = ${webhookId}`;
  return row;
}
