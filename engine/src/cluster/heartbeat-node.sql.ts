import type { Sql } from '../db/database.ts';

/**
 * Says that the node lives, by which connection it says so, and under which name it locks jobs,
 * where it does. False: it was declared dead in the meantime and others have its leases; the id
 * must not be used again.
 */
export async function heartbeatNode(sql: Sql, id: string, jobPool?: string): Promise<boolean> {
  const rows = await sql`
    update nodes set seen_at = now(), job_pool = coalesce(${jobPool ?? null}, job_pool), backend_pid = pg_backend_pid(),
      backend_start = (select backend_start from pg_stat_activity where pid = pg_backend_pid())
    where id = ${id} returning id`;
  return rows.length > 0;
}
