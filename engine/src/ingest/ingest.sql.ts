import { notFound } from '@headwater/shared';
import type { EndpointRoute } from '../contract/index.ts';
import type { Sql } from '../db/index.ts';

/**
 * Routes of the endpoints of active sources, by key; keys without a route are omitted. A source
 * that is still deploying already answers, because services ping at once.
 */
export async function readEndpoints(sql: Sql, keys: readonly string[]): Promise<Map<string, EndpointRoute>> {
  // Postgres text cannot hold NUL, so no key has one.
  const storable = keys.filter((key) => !key.includes('\0'));
  const rows = await sql<
    (Omit<EndpointRoute, 'inTurn'> & { key: string; inTurn: boolean; queueLimit: number | null })[]
  >`
    select e.key, e.account_id as "accountId", e.source_id as "sourceId", e.prop_name as "propName",
      e.custom_response as "customResponse", s.preflight, s.durability, s.in_turn as "inTurn", (d.settings ->> 'queueLimit')::int8 as "queueLimit"
    from endpoints e join emitters s on s.id = e.source_id and s.active and s.deleted_at is null
    left join deployments d on s.in_turn and d.id = s.deployment_id
    where e.key = any(${storable}::text[])`;
  return new Map(
    rows.map(({ key, inTurn, queueLimit, ...route }) => [
      key,
      inTurn ? { ...route, inTurn: queueLimit === null ? {} : { queueLimit } } : route,
    ]),
  );
}

/** The source that events without one go to, where the account has one that is not deleted. */
export async function readEventsSource(sql: Sql, accountId: string): Promise<string | undefined> {
  const rows = await sql<{ id: string }[]>`
    select s.id from accounts a join sources s on s.id = a.events_source_id
    where a.id = ${accountId} and s.account_id = ${accountId} and s.deleted_at is null`;
  return rows[0]?.id;
}

/** Notes the source, unless another one was noted that is still there. Answers which one it is. */
export async function chooseEventsSource(sql: Sql, accountId: string, sourceId: string): Promise<string> {
  const rows = await sql<{ id: string }[]>`
    update accounts a set events_source_id = case
      when exists (select from sources s where s.id = a.events_source_id and s.deleted_at is null) then a.events_source_id
      else ${sourceId}::text end
    where a.id = ${accountId} returning a.events_source_id as id`;
  const [row] = rows;
  if (row === undefined) throw notFound('account', accountId);
  return row.id;
}
