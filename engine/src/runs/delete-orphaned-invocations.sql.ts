import type { Sql } from '../db/database.ts';

/**
 * Deletes waiting invocations of a deleted source: a run that commits during the deletion may still
 * add some. Returns the number, at most `limit`; 0 if the source is not deleted.
 */
export async function deleteOrphanedInvocations(sql: Sql, sourceId: string, limit: number): Promise<number> {
  const rows = await sql`
    delete from invocations i using (
      select w.id from emitters s join invocations w on w.leased_by is null and w.source_id = s.id
      where s.id = ${sourceId} and s.deleted_at is not null limit ${limit} for update of w skip locked
    ) as orphan
    where i.id = orphan.id`;
  return rows.count;
}
