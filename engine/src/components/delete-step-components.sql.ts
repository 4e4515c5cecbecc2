import type { Transaction } from '../db/database.ts';

/**
 * Deletes those of `ids` that came from the code of steps and that nothing refers to any more.
 * Components with a key and published ones stay, because users can look them up. The caller's
 * transaction has deleted the versions that named them.
 */
export async function deleteStepComponents(tx: Transaction, accountId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  // A transaction that uses a component in a new version or source locks its row until commit. If
  // the row is unlocked, the next statement sees that use.
  const locked = await tx<{ id: string }[]>`
    select id from components where account_id = ${accountId} and id = any(${[...ids]}::text[])
      and of_step and key is null and published_at is null order by id for update skip locked`;
  if (locked.length === 0) return;
  await tx`
    delete from components c where c.id = any(${locked.map(({ id }) => id)}::text[])
      and not exists (select from emitters s where s.component_id = c.id)
      and not exists (
        select from deployments d where d.account_id = ${accountId}
          and d.steps @> jsonb_build_array(jsonb_build_object('componentId', c.id))
      )`;
}
