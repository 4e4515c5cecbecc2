import type { Sql, Transaction } from '../db/database.ts';

/**
 * So long after a source has got other code, or was deleted: nodes that have not heard of it yet
 * may still begin a run of the code before.
 */
const UNUSED_AFTER = '1 hour';

/**
 * Deletes unused code of the account that came with a source or a step, or is a copy from the
 * registry. Such code can be had again. Keeps code that a user may look for: code saved by itself,
 * published code, and the newest draft of each key and version. Returns whether it deleted any.
 */
export async function deleteUnusedCode(sql: Sql, accountId: string): Promise<boolean> {
  return sql.begin(async (tx) => {
    // As in deleteStepComponents: a transaction that uses a component in a new source or version
    // locks its row.
    const locked = await tx<{ id: string }[]>`
      select id from components c
      where account_id = ${accountId} and (of_step or registry_id is not null) and published_at is null
        and deleted_at is null and updated_at < now() - ${UNUSED_AFTER}::interval
        and (key is null or registry_id is not null or exists (
          select from components n where n.account_id = ${accountId} and n.key = c.key and n.version = c.version
            and n.deleted_at is null and n.registry_id is null and n.created_at > c.created_at
        ))
        and not exists (select from emitters s where s.component_id = c.id and s.deleted_at is null)
        and not exists (select from webhooks w where w.transform_id = c.id)
      order by id for update skip locked`;
    if (locked.length === 0) return false;
    const ids = locked.map(({ id }) => id);
    const unused = await tx<{ id: string }[]>`
      select id from components c where id = any(${ids}::text[])
        and not exists (select from emitters s where s.component_id = c.id and s.deleted_at is null)
        and not exists (select from webhooks w where w.transform_id = c.id)
        and not exists (
          select from deployments d where d.account_id = ${accountId}
            and d.steps @> jsonb_build_array(jsonb_build_object('componentId', c.id))
        )`;
    const gone = unused.map(({ id }) => id);
    // The rows of deleted sources name what they ran.
    await tx`
      update components c set deleted_at = now(), registry_id = null, code = '', bundle = '', source_map = null,
        bundle_hash = null
      where id = any(${gone}::text[]) and exists (select from emitters s where s.component_id = c.id)`;
    await tx`delete from components where id = any(${gone}::text[]) and deleted_at is null`;
    return gone.length > 0;
  });
}

/** Its hour begins now: the source that runs it is going to run `nextId`, or to be deleted. */
export async function noteUnusedCode(tx: Transaction, sourceId: string, nextId = ''): Promise<void> {
  await tx`
    update components set updated_at = now() where (of_step or registry_id is not null)
      and id <> ${nextId} and id = (select component_id from sources where id = ${sourceId})`;
}
