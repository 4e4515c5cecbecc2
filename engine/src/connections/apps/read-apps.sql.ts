import type { AppDefinition, StoredApp } from '../../contract/app-definition.ts';
import type { Sql } from '../../db/database.ts';
import { ownSlug, seenBy } from './visible-apps.sql.ts';

interface AppRow {
  id: string;
  account_id: string | null;
  hides_catalogue: boolean;
  definition: AppDefinition;
  created_ms: number;
  updated_ms: number;
}

const columns = (sql: Sql) => sql`
  a.id, a.definition, a.account_id,
  a.account_id is not null and exists (select from apps c where c.slug = a.definition ->> 'slug') as hides_catalogue,
  extract(epoch from a.created_at)::float8 * 1000 as created_ms,
  extract(epoch from a.updated_at)::float8 * 1000 as updated_ms`;

/** From the catalogue or from this account; the account's own app comes first. */
export async function readApp(
  sql: Sql,
  accountId: string | undefined,
  slugOrId: string,
): Promise<StoredApp | undefined> {
  const rows = await sql<AppRow[]>`
    select ${columns(sql)} from all_apps a
    where a.id = any(array(
      select id from all_apps where id = ${slugOrId} or slug in (${slugOrId}, ${ownSlug(accountId, slugOrId)})
    )) and ${seenBy(sql, accountId)}
    order by a.account_id nulls last limit 1`;
  return rows[0] && storedApp(rows[0]);
}

/** The app that is called so, else those that have it in their slug or name. */
export async function searchAppIds(sql: Sql, accountId: string, query: string): Promise<string[]> {
  const text = query.toLowerCase();
  const rows = await sql<{ id: string; is_exact: boolean }[]>`
    select a.id, a.definition ->> 'slug' = ${query} or a.id = ${query} as is_exact from all_apps a
    where ${seenBy(sql, accountId)} and (a.id = ${query} or ${matches(sql, text)})`;
  const exact = rows.filter((row) => row.is_exact);
  return (exact.length > 0 ? exact : rows).map((row) => row.id);
}

/** position() instead of like: the search text may contain % and _. */
function matches(sql: Sql, text: string) {
  return sql`(position(${text} in lower(a.definition ->> 'slug')) > 0
    or position(${text} in lower(a.definition ->> 'name')) > 0)`;
}

export interface AppPageRequest {
  limit: number;
  /** In the order of slugs: those that follow this one, or precede it. */
  after?: string;
  before?: string;
  query?: string;
}

/**
 * A slice of the catalogue with the account's own apps, in the order of slugs; `total` counts all
 * that `query` finds. An app of the catalogue that one of the account hides is left out.
 */
export async function readAppPage(
  sql: Sql,
  accountId: string,
  page: AppPageRequest,
): Promise<{ apps: StoredApp[]; total: number }> {
  const isUpward = page.before !== undefined && page.after === undefined;
  const text = page.query?.toLowerCase() ?? '';
  const found = sql`
    from all_apps a where ${seenBy(sql, accountId)} and (${text} = '' or ${matches(sql, text)})
    and not (a.account_id is null and exists (select from all_apps o where o.slug = ${`${accountId}:`} || a.slug))`;
  const slug = sql`(a.definition ->> 'slug') collate "C"`;
  const direction = isUpward ? sql`desc` : sql`asc`;
  const [rows, counted] = await Promise.all([
    sql<AppRow[]>`
      select ${columns(sql)} ${found}
      ${page.after === undefined ? sql`` : sql`and ${slug} > ${page.after}`}
      ${page.before === undefined ? sql`` : sql`and ${slug} < ${page.before}`}
      order by ${slug} ${direction} limit ${page.limit}`,
    sql<{ total: number }[]>`select count(*)::int as total ${found}`,
  ]);
  const apps = rows.map(storedApp);
  return { apps: isUpward ? apps.toReversed() : apps, total: counted[0]?.total ?? 0 };
}

function storedApp(row: AppRow): StoredApp {
  const { id, definition, account_id: accountId, created_ms: createdMs, updated_ms: updatedMs } = row;
  const own = accountId === null ? {} : { accountId, hidesCatalogue: row.hides_catalogue };
  return { id, definition, ...own, createdAt: new Date(createdMs), updatedAt: new Date(updatedMs) };
}
