import type { AppDefinition } from '../contract/index.ts';
import type { Sql } from '../db/index.ts';
import { ownSlug, seenBy } from '../connections/index.ts';

export interface KnownApp {
  name: string;
  authType: AppDefinition['authType'];
}

/** From the catalogue and from the account, by slug; the account's own apps come first. */
export async function findApps(sql: Sql, accountId: string, slugs: readonly string[]): Promise<Map<string, KnownApp>> {
  const rows = await sql<{ slug: string; name: string; auth_type: AppDefinition['authType'] }[]>`
    select a.definition ->> 'slug' as slug, a.definition ->> 'name' as name, a.definition ->> 'authType' as auth_type
    from all_apps a
    where a.slug = any(${slugs.flatMap((slug) => [slug, ownSlug(accountId, slug)])}::text[]) and ${seenBy(sql, accountId)}
    order by a.account_id nulls first`;
  return new Map(rows.map(({ slug, name, auth_type: authType }) => [slug, { name, authType }]));
}

/** Connected accounts of the account, by id, with the slug of the app that each is of. */
export async function findProvisions(
  sql: Sql,
  accountId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql<{ id: string; slug: string }[]>`
    select c.id, a.definition ->> 'slug' as slug
    from connected_accounts c join all_apps a on a.id = c.app_id and ${seenBy(sql, accountId)}
    where c.account_id = ${accountId} and c.id = any(${[...ids]}::text[]) and c.deleted_at is null`;
  return new Map(rows.map(({ id, slug }) => [id, slug]));
}
