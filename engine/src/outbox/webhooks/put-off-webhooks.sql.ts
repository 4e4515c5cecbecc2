import { type Sql, type Transaction, WEBHOOK_CHANGED_CHANNEL } from '../../db/index.ts';

/** Which change of the time is worth a notice to all nodes. */
const WORTH_MS = 1_000;

/**
 * Receivers have asked to be sent nothing before these times, in epoch milliseconds by webhook.
 * Until then deliveries go through the lane, which waits; nodes give back what they have not begun.
 */
export async function putOffWebhooks(tx: Transaction, untils: ReadonlyMap<string, number>): Promise<void> {
  await tx`
    with put_off as (
      update webhooks w set paced_until = to_timestamp(u.until_ms / 1000)
      from unnest(${[...untils.keys()]}::text[], ${[...untils.values()]}::float8[]) as u(id, until_ms)
      where w.id = u.id
        and coalesce(w.paced_until, now()) < to_timestamp((u.until_ms - ${WORTH_MS}::int4) / 1000)
      returning w.id
    )
    select pg_notify(${WEBHOOK_CHANGED_CHANNEL}, id) from put_off`;
}

/** Its owner knows that the receiver is back. */
export async function takeBackPutOff(sql: Sql, accountId: string, webhookId: string): Promise<void> {
  await sql`update webhooks set paced_until = null where id = ${webhookId} and account_id = ${accountId}`;
}
