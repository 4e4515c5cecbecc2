import type { EndpointRoute } from '../contract.ts';
import type { Sql } from './database.ts';

/**
 * Where endpoints of active sources lead, by key; keys that lead nowhere are left out. A source that is being deployed
 * already answers: services ping at once.
 */
export async function readEndpoints(sql: Sql, keys: readonly string[]): Promise<Map<string, EndpointRoute>> {
  // Postgres text cannot hold NUL, so no key has one.
  const storable = keys.filter((key) => !key.includes('\0'));
  const rows = await sql<(EndpointRoute & { key: string })[]>`
    select e.key, e.account_id as "accountId", e.source_id as "sourceId", e.prop_name as "propName",
      e.custom_response as "customResponse"
    from endpoints e join sources s on s.id = e.source_id and s.active and s.deleted_at is null
    where e.key = any(${storable}::text[])`;
  return new Map(rows.map(({ key, ...route }) => [key, route]));
}
