import type { Sql } from '../db/database.ts';

export interface ComponentUse {
  sources: number;
  workflows: number;
  webhooks: number;
}

/**
 * Answers how many sources, workflows and webhooks use it, by any version of theirs; with none of
 * them its code is gone, and the row too where no deleted source names it.
 */
export async function deleteComponent(sql: Sql, accountId: string, id: string): Promise<ComponentUse> {
  return sql.begin(async (tx) => {
    // A source that is being made holds the row by its foreign key, a workflow by a lock, and is
    // counted once it is there.
    await tx`select id from components where account_id = ${accountId} and id = ${id} for update`;
    const [count] = await tx<{ live: number; total: number }[]>`
      select count(*) filter (where deleted_at is null)::int as live, count(*)::int as total
      from sources where component_id = ${id}`;
    const { live = 0, total = 0 } = count ?? {};
    const [used] = await tx<{ workflows: number }[]>`
      select count(distinct workflow_id)::int as workflows from deployments
      where account_id = ${accountId} and steps @> ${JSON.stringify([{ componentId: id }])}::text::jsonb`;
    const [transforms] = await tx<{ webhooks: number }[]>`
      select count(*)::int as webhooks from webhooks where transform_id = ${id}`;
    const use = { sources: live, workflows: used?.workflows ?? 0, webhooks: transforms?.webhooks ?? 0 };
    if (use.sources + use.workflows + use.webhooks > 0) return use;
    if (total === 0) await tx`delete from components where account_id = ${accountId} and id = ${id}`;
    // Without its hash, the empty bundle is never taken for an earlier build.
    else
      await tx`
        update components set deleted_at = now(), published_at = null, registry_id = null, code = '', bundle = '',
          source_map = null, bundle_hash = null
        where account_id = ${accountId} and id = ${id}`;
    return use;
  });
}
