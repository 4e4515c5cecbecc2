import type { Transaction } from '../db/database.ts';

/**
 * Deletes those of these people who are a member of no account any more, with their sessions.
 * Nobody else knows them. Whoever makes one a member again meanwhile waits here, or is waited for.
 */
export async function deletePeopleWithoutAccount(tx: Transaction, personIds: readonly string[]): Promise<void> {
  if (personIds.length === 0) return;
  await tx`select from people where id = any(${[...personIds]}::text[]) order by id for update`;
  await tx`
    delete from people p where p.id = any(${[...personIds]}::text[])
      and not exists (select from memberships m where m.person_id = p.id)`;
}
