import type { Sql } from '../db/database.ts';

/**
 * `taken`: another row with that key and version is published; the same code there counts as this
 * one.
 */
export type PublishOutcome = { kind: 'published'; id: string } | { kind: 'taken' } | { kind: 'absent' };

/**
 * Publishes a saved component in its account. One at a time for each account, so that of two
 * versions alike one is first.
 */
export async function publishComponent(sql: Sql, accountId: string, id: string): Promise<PublishOutcome> {
  return sql.begin(async (tx): Promise<PublishOutcome> => {
    await tx`select id from accounts where id = ${accountId} for no key update`;
    const [row] = await tx<{ key: string; version: string; code_hash: string }[]>`
      select key, version, code_hash from components
      where account_id = ${accountId} and id = ${id} and registry_id is null and deleted_at is null for update`;
    if (row === undefined) return { kind: 'absent' };
    const [known] = await tx<{ id: string; code_hash: string }[]>`
      select id, code_hash from components
      where account_id = ${accountId} and key = ${row.key} and version = ${row.version} and published_at is not null`;
    if (known !== undefined && known.id !== id)
      return known.code_hash === row.code_hash ? { kind: 'published', id: known.id } : { kind: 'taken' };
    await tx`
      update components set published_at = now(), updated_at = now()
      where account_id = ${accountId} and id = ${id} and published_at is null`;
    return { kind: 'published', id };
  });
}

export async function unpublishComponent(sql: Sql, accountId: string, id: string): Promise<void> {
  await sql`
    update components set published_at = null, updated_at = now()
    where account_id = ${accountId} and id = ${id} and published_at is not null`;
}
