import type { Sql } from './database.ts';

/** Answers how many sources use it; with none of them its code is gone, and the row too where no deleted source names it. */
export async function deleteComponent(sql: Sql, accountId: string, id: string): Promise<{ usedBy: number }> {
  return sql.begin(async (tx) => {
    // A source that is being made holds the row by its foreign key, and is counted once it is there.
    await tx`select id from components where account_id = ${accountId} and id = ${id} for update`;
    const [count] = await tx<{ live: number; total: number }[]>`
      select count(*) filter (where deleted_at is null)::int as live, count(*)::int as total
      from sources where component_id = ${id}`;
    const { live = 0, total = 0 } = count ?? {};
    if (live > 0) return { usedBy: live };
    if (total === 0) await tx`delete from components where account_id = ${accountId} and id = ${id}`;
    // Without its hash nobody takes the empty bundle for one that was made earlier.
    else
      await tx`
        update components set deleted_at = now(), published_at = null, registry_id = null, code = '', bundle = '',
          source_map = null, bundle_hash = null
        where account_id = ${accountId} and id = ${id}`;
    return { usedBy: 0 };
  });
}
