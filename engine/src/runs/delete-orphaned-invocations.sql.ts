import type { Sql } from '../db/database.ts';

/**
 * Deletes what waits for a source that is deleted: a run that commits at the moment of the deletion
 * may still add to what a source that listens is to hear. Answers how many, `limit` at most; 0
 * where the source is not deleted.
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
