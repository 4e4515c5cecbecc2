import type { Sql } from './database.ts';

/**
 * Says that the node lives. False: it was declared dead in the meantime and others have its leases; the id must not be
 * used again.
 */
export async function heartbeatNode(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`update nodes set seen_at = now() where id = ${id} returning id`;
  return rows.length > 0;
}
