import type { NodeRecord } from '../../contract/stats.ts';
import type { Sql } from '../../db/database.ts';

/** Registered nodes. A dead node stays until another has taken over its rows. */
export async function readNodes(sql: Sql): Promise<NodeRecord[]> {
  return sql<NodeRecord[]>`
    select id, role, (extract(epoch from started_at) * 1000)::int8 as "startedAtMs",
      (extract(epoch from seen_at) * 1000)::int8 as "seenAtMs"
    from nodes order by started_at, id`;
}
