import { LIMITS } from '@headwater/shared';
import type { SampleRequest } from '../../contract/index.ts';
import { rowsOf, type Sql } from '../../db/index.ts';

export interface NewSampleRequest extends Omit<SampleRequest, 'receivedAtMs'> {
  accountId: string;
}

/**
 * The end of the URL of the account's receiver. If the account has none, makes it with `newKey`.
 */
export async function readSampleKey(sql: Sql, accountId: string, newKey: string): Promise<string> {
  await sql`
    insert into sample_receivers (account_id, key) select id, ${newKey} from accounts where id = ${accountId}
    on conflict (account_id) do nothing`;
  return (await findSampleKey(sql, accountId)) ?? newKey;
}

/** Undefined: the account has not asked for it. */
export async function findSampleKey(sql: Sql, accountId: string): Promise<string | undefined> {
  const [row] = await sql<{ key: string }[]>`select key from sample_receivers where account_id = ${accountId}`;
  return row?.key;
}

/** Stores the requests, and deletes the oldest beyond each account's limit. */
export async function insertSampleRequests(sql: Sql, rows: readonly NewSampleRequest[]): Promise<void> {
  const accountIds = [...new Set(rows.map(({ accountId }) => accountId))].sort();
  await sql.begin(async (tx) => {
    await tx`
      insert into sample_requests
        (id, account_id, webhook_id, delivery_id, headers, body_bytes, verified, verdict, body)
      select r.id, r.account_id, r.webhook_id, r.delivery_id, r.headers::jsonb, r.body_bytes, r.verified = 1, r.verdict, r.body
      from ${rowsOf(tx, [
        ['text', rows.map(({ id }) => id)],
        ['text', rows.map(({ accountId }) => accountId)],
        ['text', rows.map(({ webhookId }) => webhookId)],
        ['text', rows.map(({ deliveryId }) => deliveryId)],
        ['text', rows.map(({ headers }) => JSON.stringify(headers))],
        ['int4', rows.map(({ bodyBytes }) => bodyBytes)],
        ['int4', rows.map(({ verified }) => Number(verified))],
        ['text', rows.map(({ verdict }) => verdict)],
        ['long', rows.map(({ body }) => body)],
      ])} as r(id, account_id, webhook_id, delivery_id, headers, body_bytes, verified, verdict, body)
        join accounts a on a.id = r.account_id`;
    await tx`
      delete from sample_requests r using unnest(${accountIds}::text[]) as x(account_id)
      where r.account_id = x.account_id and r.id <= (
        select id from sample_requests where account_id = x.account_id
        order by id desc offset ${LIMITS.maxSampleRequests} limit 1
      )`;
  });
}

/** Those of `ids` that are the account's, in no order. */
export async function readSampleRequests(
  sql: Sql,
  accountId: string,
  ids: readonly string[],
): Promise<SampleRequest[]> {
  return sql<SampleRequest[]>`
    select id, webhook_id as "webhookId", delivery_id as "deliveryId", headers, body, body_bytes as "bodyBytes",
      verified, verdict, (extract(epoch from received_at) * 1000)::int8 as "receivedAtMs"
    from sample_requests where account_id = ${accountId} and id = any(${[...ids]}::text[])`;
}

export async function deleteSampleRequests(sql: Sql, accountId: string): Promise<void> {
  await sql`delete from sample_requests where account_id = ${accountId}`;
}

/** Answers how many were too old, at most `limit`. */
export async function expireSampleRequests(sql: Sql, beforeMs: number, limit: number): Promise<number> {
  const rows = await sql`
    delete from sample_requests where ctid in (
      select ctid from sample_requests where received_at < to_timestamp(${beforeMs / 1000}::float8)
      order by received_at limit ${limit}
    )`;
  return rows.count;
}

/** Current sealed secret by webhook id, for webhooks that still exist. */
export async function readSealedSecrets(sql: Sql, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await sql<{ id: string; secret: string }[]>`
    select id, secret from webhooks where id = any(${[...ids]}::text[])`;
  return new Map(rows.map(({ id, secret }) => [id, secret]));
}
