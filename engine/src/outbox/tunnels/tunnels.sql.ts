import { LIMITS } from '@headwater/shared';
import type { TunnelAnswer, TunnelRequest } from '../../contract/index.ts';
import type { Sql } from '../../db/index.ts';

export async function insertTunnel(sql: Sql, accountId: string, webhookId: string): Promise<void> {
  await sql`insert into tunnels (webhook_id, account_id) values (${webhookId}, ${accountId})`;
}

/**
 * Records that a client listens. False: the webhook is no tunnel of the account, or was deleted.
 */
export async function touchTunnel(sql: Sql, accountId: string, webhookId: string): Promise<boolean> {
  const rows = await sql`
    update tunnels set listened_at = now() where webhook_id = ${webhookId} and account_id = ${accountId} returning webhook_id`;
  return rows.length > 0;
}

export async function isListenedTo(sql: Sql, webhookId: string): Promise<boolean> {
  const rows = await sql`
    select from tunnels where webhook_id = ${webhookId}
      and listened_at > now() - make_interval(secs => ${LIMITS.tunnelSilentMs / 1000}::float8)`;
  return rows.length > 0;
}

/** Tunnels that no client has listened to for LIMITS.tunnelKeptMs. */
export async function readLeftTunnels(sql: Sql, limit: number): Promise<{ webhookId: string; accountId: string }[]> {
  return sql<{ webhookId: string; accountId: string }[]>`
    select webhook_id as "webhookId", account_id as "accountId" from tunnels
    where listened_at < now() - make_interval(secs => ${LIMITS.tunnelKeptMs / 1000}::float8)
    order by listened_at limit ${limit}`;
}

export async function insertTunnelRequest(
  sql: Sql,
  request: TunnelRequest & { accountId: string; webhookId: string; timeoutMs: number },
): Promise<void> {
  const { id, accountId, webhookId, deliveryId, headers, body, timeoutMs } = request;
  await sql`
    insert into tunnel_requests (id, account_id, webhook_id, delivery_id, headers, body, expires_at)
    values (${id}, ${accountId}, ${webhookId}, ${deliveryId}, ${JSON.stringify(headers)}::text::jsonb, ${body},
      now() + make_interval(secs => ${timeoutMs / 1000}::float8))`;
}

/** The listener that takes one shows it; the oldest first. */
export async function takeTunnelRequests(sql: Sql, accountId: string, webhookId: string): Promise<TunnelRequest[]> {
  return sql<TunnelRequest[]>`
    with taken as (
      update tunnel_requests r set taken = true from (
        select id from tunnel_requests
        where webhook_id = ${webhookId} and account_id = ${accountId} and not taken and expires_at > now()
        order by id limit ${LIMITS.maxTunnelBatch} for update skip locked
      ) as next where r.id = next.id
      returning r.id, r.delivery_id, r.headers, r.body
    )
    select id, delivery_id as "deliveryId", headers, body from taken order by id`;
}

/** False: there is no such request, or it has ended. */
export async function answerTunnelRequest(
  sql: Sql,
  accountId: string,
  webhookId: string,
  { requestId, status, headers = {}, body = '', error }: TunnelAnswer,
): Promise<boolean> {
  const rows = await sql`
    update tunnel_requests set status = ${status ?? null}::int4, error = ${error ?? null}, response = ${body},
      response_headers = ${JSON.stringify(headers)}::text::jsonb
    where id = ${requestId} and account_id = ${accountId} and webhook_id = ${webhookId}
      and status is null and error is null and expires_at > now()
    returning id`;
  return rows.length > 0;
}

export interface AnswerRow {
  id: string;
  status: number | null;
  headers: Record<string, string>;
  response: string;
  error: string | null;
}

export async function readTunnelAnswers(sql: Sql, ids: readonly string[]): Promise<AnswerRow[]> {
  return sql<AnswerRow[]>`
    select id, status, response_headers as headers, response, error from tunnel_requests
    where id = any(${[...ids]}::text[]) and (status is not null or error is not null)`;
}

export async function deleteTunnelRequest(sql: Sql, id: string): Promise<void> {
  await sql`delete from tunnel_requests where id = ${id}`;
}

/** Rows that ended nodes have left. */
export async function expireTunnelRequests(sql: Sql): Promise<void> {
  await sql`delete from tunnel_requests where expires_at < now() - interval '1 minute'`;
}
