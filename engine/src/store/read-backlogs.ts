import type { Queued } from '../events/queued.ts';
import type { Sql } from './database.ts';

/** What of each account no node holds. Postgres knows the length of a long event without reading it. */
export async function readBacklogs(sql: Sql): Promise<Map<string, Queued>> {
  const rows = await sql<(Queued & { account_id: string })[]>`
    select account_id, sum(invocations)::int8 as invocations, sum(chars)::int8 as chars, sum(deliveries)::int8 as deliveries
    from (
      select account_id, count(*) as invocations, sum(octet_length(event)) as chars, 0 as deliveries
      from invocations where leased_by is null group by account_id
      union all
      select account_id, 0, 0, count(*) from deliveries
      where status = 'pending' and leased_by is null group by account_id
    ) as waiting
    group by account_id`;
  return new Map(rows.map(({ account_id: accountId, ...queued }) => [accountId, queued]));
}
