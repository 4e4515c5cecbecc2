import type { Sql } from '../db/database.ts';

/**
 * Renews the node's row, with its database connection and, if given, the pool name under which it
 * locks jobs. Returns false if the node was declared dead meanwhile. Other nodes then have its
 * leases, and the id must not be used again.
 */
export async function heartbeatNode(sql: Sql, id: string, jobPool?: string): Promise<boolean> {
  const rows = await sql`
    update nodes set seen_at = now(), job_pool = coalesce(${jobPool ?? null}, job_pool), backend_pid = pg_backend_pid(),
      backend_start = (select backend_start from pg_stat_activity where pid = pg_backend_pid())
    where id = ${id} returning id`;
  return rows.length > 0;
}
