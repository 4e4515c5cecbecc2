import type { EndpointRoute } from '../contract/engine.ts';
import type { Sql } from '../db/database.ts';

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
