import type { NodeRecord } from '../../contract/stats.ts';
import type { Sql } from '../../db/database.ts';

/** Registered nodes: a dead one is there until another has taken over what it held. */
export async function readNodes(sql: Sql): Promise<NodeRecord[]> {
  return sql<NodeRecord[]>`
    select id, role, (extract(epoch from started_at) * 1000)::int8 as "startedAtMs",
      (extract(epoch from seen_at) * 1000)::int8 as "seenAtMs"
    from nodes order by started_at, id`;
}
