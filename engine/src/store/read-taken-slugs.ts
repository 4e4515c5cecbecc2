import type { Sql } from './database.ts';

/** Slugs of the account's live sources that begin with `slug`, but for the source `exceptId`. */
export async function readTakenSlugs(
  sql: Sql,
  accountId: string,
  slug: string,
  exceptId?: string,
): Promise<Set<string>> {
  const rows = await sql<{ name_slug: string }[]>`
    select name_slug from sources
    where account_id = ${accountId} and deleted_at is null and starts_with(name_slug, ${slug})
      and id is distinct from ${exceptId ?? null}`;
  return new Set(rows.map((row) => row.name_slug));
}
