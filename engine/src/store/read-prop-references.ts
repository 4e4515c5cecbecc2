import type { AppAuthType } from '../apps/app-definition.ts';
import type { Sql } from './database.ts';

export interface KnownApp {
  name: string;
  authType: AppAuthType;
}

/** Of the catalogue, by slug. */
export async function findApps(sql: Sql, slugs: readonly string[]): Promise<Map<string, KnownApp>> {
  const rows = await sql<{ slug: string; name: string; auth_type: AppAuthType }[]>`
    select slug, definition ->> 'name' as name, definition ->> 'authType' as auth_type
    from apps where slug = any(${[...slugs]}::text[])`;
  return new Map(rows.map(({ slug, name, auth_type: authType }) => [slug, { name, authType }]));
}

/** Connected accounts of the account, by id, with the slug of the app that each is of. */
export async function findProvisions(
  sql: Sql,
  accountId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql<{ id: string; slug: string }[]>`
    select c.id, a.slug from connected_accounts c join apps a on a.id = c.app_id
    where c.account_id = ${accountId} and c.id = any(${[...ids]}::text[]) and c.deleted_at is null`;
  return new Map(rows.map(({ id, slug }) => [id, slug]));
}
