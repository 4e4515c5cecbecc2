import { newId } from '@headwater/shared';
import { WEBHOOKS_CHANNEL } from '../../events/index.ts';
import { type Database, type Sql, sql as drizzle, type Transaction } from '../../db/index.ts';

/** An event on the channel `$webhooks` of an account. */
export interface WebhookNotice {
  type:
    | 'webhook.disabled'
    | 'webhook.enabled'
    | 'webhook.secret_rotated'
    | 'delivery.exhausted'
    | 'backlog.near_limit'
    | 'limit.near';
  accountId: string;
  /** If several have one id, the first is told. Default: none is like it. */
  id?: string;
  /** Fields of the event. */
  about: Record<string, unknown>;
}

export interface NoticeRow {
  id: string;
  account_id: string;
  data: string;
}

function rowOf({ type, accountId, id = newId('notice'), about }: WebhookNotice): NoticeRow {
  return { id, account_id: accountId, data: JSON.stringify({ type, id, at_ms: Date.now(), ...about }) };
}

/** In the transaction of what it tells of. */
export async function addNotice(tx: Sql | Transaction, notice: WebhookNotice): Promise<void> {
  await addNotices(tx, [notice]);
}

async function addNotices(tx: Sql | Transaction, notices: readonly WebhookNotice[]): Promise<void> {
  const rows = notices.map(rowOf);
  await tx`
    insert into webhook_notices (id, account_id, data)
    select * from unnest(
      ${rows.map(({ id }) => id)}::text[], ${rows.map((row) => row.account_id)}::text[],
      ${rows.map(({ data }) => data)}::text[]
    ) on conflict do nothing`;
}

/** The same within a transaction of drizzle. */
export async function addNoticeIn(tx: Pick<Database['orm'], 'execute'>, notice: WebhookNotice): Promise<void> {
  const { id, account_id, data } = rowOf(notice);
  await tx.execute(drizzle`
    insert into webhook_notices (id, account_id, data) values (${id}, ${account_id}, ${data}) on conflict do nothing`);
}

interface ExhaustedRow {
  id: string;
  account_id: string;
  webhook_id: string;
  delivery_id: string;
  emit_id: string;
  attempts: number;
  error_class: string | null;
}

/**
 * Deliveries that have failed for good, where somebody listens. Not those of notices: a webhook
 * that fails would be told of its own failures for ever.
 */
export async function addExhaustedNotices(
  tx: Sql | Transaction,
  failed: readonly { webhookId: string; deliveryId: string }[],
): Promise<void> {
  const rows = await tx<ExhaustedRow[]>`
    select 'exhausted:' || d.id || ':' || jsonb_array_length(d.attempts) as id, d.account_id, d.webhook_id,
      d.id as delivery_id, d.emitter_id || '-' || d.indexed_at_ms || '-' || d.seq as emit_id,
      d.attempt_count as attempts, d.error_class
    from unnest(
      ${failed.map(({ webhookId }) => webhookId)}::text[], ${failed.map(({ deliveryId }) => deliveryId)}::text[]
    ) as f(webhook_id, id) join deliveries d using (webhook_id, id)
    where d.status = 'failed' and d.emitter_id <> d.account_id and exists (
      select from subscriptions s where s.emitter_id = d.account_id and s.account_id = d.account_id
        and s.channel_key in (${WEBHOOKS_CHANNEL}, '*')
    )`;
  if (rows.length === 0) return;
  const noticeOf = ({ id, account_id: accountId, ...about }: ExhaustedRow) =>
    ({ type: 'delivery.exhausted', id, accountId, about }) as const;
  await addNotices(tx, rows.map(noticeOf));
}

const TAKEN_AT_ONCE = 50;
/** A node that has taken some and told nothing by then has died. */
const TAKEN_FOR = '30 seconds';

/** Those that no node is at, the oldest first. Makes the accounts emitters. */
export async function takeNotices(sql: Sql): Promise<NoticeRow[]> {
  return sql.begin(async (tx) => {
    const rows = await tx<NoticeRow[]>`
      with next as (
        select id from webhook_notices where taken_until <= now() order by created_at, id limit ${TAKEN_AT_ONCE}
        for update skip locked
      )
      update webhook_notices n set taken_until = now() + ${TAKEN_FOR}::interval from next where n.id = next.id
      returning n.id, n.account_id, n.data`;
    if (rows.length > 0)
      await tx`
        insert into emitter_state (emitter_id, account_id)
        select distinct id, id from unnest(${rows.map((row) => row.account_id)}::text[]) as a(id) on conflict do nothing`;
    return rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  });
}

export async function deleteNotices(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`delete from webhook_notices where id = any(${[...ids]}::text[])`;
}
