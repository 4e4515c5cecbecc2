import type { AppDefinition, StoredApp } from '../apps/app-definition.ts';
import type { Sql } from './database.ts';

interface AppRow {
  id: string;
  definition: AppDefinition;
  created_ms: number;
  updated_ms: number;
}

const columns = (sql: Sql) => sql`
  a.id, a.definition, extract(epoch from a.created_at)::float8 * 1000 as created_ms,
  extract(epoch from a.updated_at)::float8 * 1000 as updated_ms`;

export async function readApp(sql: Sql, slugOrId: string): Promise<StoredApp | undefined> {
  const rows = await sql<AppRow[]>`select ${columns(sql)} from apps a where a.slug = ${slugOrId} or a.id = ${slugOrId}`;
  return rows[0] && storedApp(rows[0]);
}

/** The app that is called so, else those that have it in their slug or name. */
export async function searchAppIds(sql: Sql, query: string): Promise<string[]> {
  const text = query.toLowerCase();
  const rows = await sql<{ id: string; is_exact: boolean }[]>`
    select a.id, a.slug = ${query} or a.id = ${query} as is_exact from apps a where a.id = ${query} or ${matches(sql, text)}`;
  const exact = rows.filter((row) => row.is_exact);
  return (exact.length > 0 ? exact : rows).map((row) => row.id);
}

/** position() instead of like: what is looked for may hold % and _. */
function matches(sql: Sql, text: string) {
  return sql`(position(${text} in lower(a.slug)) > 0 or position(${text} in lower(a.definition ->> 'name')) > 0)`;
}

export interface AppPageRequest {
  limit: number;
  /** In the order of slugs: those that follow this one, or precede it. */
  after?: string;
  before?: string;
  query?: string;
}

/** A slice of the catalogue in the order of slugs; `total` counts all that `query` finds. */
export async function readAppPage(sql: Sql, page: AppPageRequest): Promise<{ apps: StoredApp[]; total: number }> {
  const isUpward = page.before !== undefined && page.after === undefined;
  const text = page.query?.toLowerCase() ?? '';
  const found = sql`from apps a where (${text} = '' or ${matches(sql, text)})`;
  const direction = isUpward ? sql`desc` : sql`asc`;
  const [rows, counted] = await Promise.all([
    sql<AppRow[]>`
      select ${columns(sql)} ${found}
      ${page.after === undefined ? sql`` : sql`and a.slug collate "C" > ${page.after}`}
      ${page.before === undefined ? sql`` : sql`and a.slug collate "C" < ${page.before}`}
      order by a.slug collate "C" ${direction} limit ${page.limit}`,
    sql<{ total: number }[]>`select count(*)::int as total ${found}`,
  ]);
  const apps = rows.map(storedApp);
  return { apps: isUpward ? apps.toReversed() : apps, total: counted[0]?.total ?? 0 };
}

function storedApp(row: AppRow): StoredApp {
  const { id, definition, created_ms: createdMs, updated_ms: updatedMs } = row;
  return { id, definition, createdAt: new Date(createdMs), updatedAt: new Date(updatedMs) };
}
