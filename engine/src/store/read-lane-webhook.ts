import type { Sql } from './database.ts';

/** What the lane of a webhook asks before it claims. */
export interface LaneWebhook {
  accountId: string;
  /** False: what is pending is held. */
  active: boolean;
  /** Its deliveries are claimed by `claimPaced`. */
  isPaced: boolean;
}

/** Undefined where the webhook is gone. */
export async function readLaneWebhook(sql: Sql, webhookId: string): Promise<LaneWebhook | undefined> {
  const [row] = await sql<LaneWebhook[]>`
    select account_id as "accountId", active, drain_before is not null as "isPaced" from webhooks where id = ${webhookId}`;
  return row;
}
