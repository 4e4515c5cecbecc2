import type { EndpointRoute } from '../contract.ts';
import type { Sql } from './database.ts';

/** Where an endpoint of an active source leads. A source that is being deployed already answers: services ping at once. */
export async function readEndpoint(sql: Sql, key: string): Promise<EndpointRoute | undefined> {
  // Postgres text cannot hold NUL, so no key has one.
  if (key.includes('\0')) return undefined;
  const rows = await sql<EndpointRoute[]>`
    select e.account_id as "accountId", e.source_id as "sourceId", e.prop_name as "propName",
      e.custom_response as "customResponse"
    from endpoints e join sources s on s.id = e.source_id and s.active and s.deleted_at is null
    where e.key = ${key}`;
  return rows[0];
}
