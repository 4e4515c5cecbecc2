import type { Sql } from '../db/database.ts';
import type { Claim } from '../runs/release-invocations.sql.ts';

export interface Leases {
  invocations: Claim[];
  deliveries: string[];
  sends: { id: string; accountId: string }[];
}

/** As many as it may hold, each found by an index that begins with the node. */
export async function readLeases(sql: Sql, nodeId: string): Promise<Leases> {
  const [invocations, deliveries, sends] = await Promise.all([
    sql<Claim[]>`select id, claim from invocations where leased_by = ${nodeId}`,
    sql<{ id: string }[]>`select id from deliveries where leased_by = ${nodeId} and status = 'pending'`,
    sql<Leases['sends']>`
      select distinct unit_id as id, account_id as "accountId" from sends
      where leased_by = ${nodeId} and status = 'pending' and unit_id is not null`,
  ]);
  return {
    invocations: [...invocations],
    deliveries: deliveries.map(({ id }) => id),
    sends: [...sends],
  };
}
