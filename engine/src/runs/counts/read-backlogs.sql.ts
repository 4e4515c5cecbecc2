import { NOTHING_QUEUED, type Queued, sumOf } from '../commit/queued.ts';
import type { Sql } from '../../db/database.ts';

/** Work that no node holds. */
export interface Backlogs {
  ofAccount: ReadonlyMap<string, Queued>;
  /** Deliveries. */
  ofWebhook: ReadonlyMap<string, number>;
}

/** Postgres knows the length of a long event without reading it. */
export async function readBacklogs(sql: Sql): Promise<Backlogs> {
  // A draining delivery was held, and takes nothing from what else waits.
  const isHeld = sql`coalesce(not w.active or d.created_at <= w.drain_before, false)`;
  const rows = await sql<(Queued & { account_id: string; webhook_id: string | null })[]>`
    select account_id, null as webhook_id, count(*) as invocations, sum(octet_length(event))::int8 as chars, 0 as deliveries, 0 as held
    from invocations where leased_by is null group by account_id
    union all
    select d.account_id, d.webhook_id, 0, 0, count(*) filter (where not ${isHeld}), count(*) filter (where ${isHeld})
    from deliveries d left join webhooks w on w.id = d.webhook_id
    where d.status = 'pending' and d.leased_by is null group by d.account_id, d.webhook_id`;
  const ofAccount = new Map<string, Queued>();
  const ofWebhook = new Map<string, number>();
  for (const { account_id: accountId, webhook_id: webhookId, ...queued } of rows) {
    ofAccount.set(accountId, sumOf(ofAccount.get(accountId) ?? NOTHING_QUEUED, queued));
    if (webhookId !== null) ofWebhook.set(webhookId, queued.deliveries);
  }
  return { ofAccount, ofWebhook };
}
