import type { ComponentType } from '@headwater/shared';
import type { Page } from '../contract/base.ts';
import type { ComponentListRequest, ComponentSummary } from '../contract/components.ts';
import type { Sql } from '../db/database.ts';
import { inPageOrder, readPage } from '../db/paging.ts';

interface SummaryRow {
  id: string;
  name: string;
  key: string | null;
  version: string;
  type: ComponentType;
  description: string | null;
  code_hash: string;
  code_url: string | null;
  dedupe: 'unique' | 'greatest' | 'last' | null;
  has_additional_props: boolean;
  dependencies: Record<string, string>;
  published_ms: number | null;
  created_ms: number;
  updated_ms: number;
}

/** Without code: a page of it could have a hundred megabytes. */
export async function listComponents(
  sql: Sql,
  accountId: string,
  { type, query, key, isPublished, ...page }: ComponentListRequest,
): Promise<Page<ComponentSummary>> {
  const text = query?.toLowerCase() ?? '';
  // position() instead of like: the search text may contain % and _.
  const where = sql`and deleted_at is null and registry_id is null
    ${type === undefined ? sql`` : sql`and type = ${type}`}
    ${key === undefined ? sql`` : sql`and key = ${key}`}
    ${isPublished === undefined ? sql`` : sql`and (published_at is not null) = ${isPublished}`}
    ${text === '' ? sql`` : sql`and (position(${text} in lower(name)) > 0 or position(${text} in lower(key)) > 0)`}`;
  const { ids, ...rest } = await readPage(sql, { table: 'components', accountId, where, order: 'created' }, page);
  const rows = await sql<SummaryRow[]>`
    select id, name, key, version, type, description, code_hash, code_url, dedupe, has_additional_props, dependencies,
      extract(epoch from published_at)::float8 * 1000 as published_ms,
      extract(epoch from created_at)::float8 * 1000 as created_ms,
      extract(epoch from updated_at)::float8 * 1000 as updated_ms
    from components where account_id = ${accountId} and id = any(${ids}::text[]) and deleted_at is null`;
  return { ...rest, items: inPageOrder(ids, rows.map(summaryOf)) };
}

function summaryOf(row: SummaryRow): ComponentSummary {
  return {
    id: row.id,
    name: row.name,
    ...(row.key === null ? {} : { key: row.key }),
    version: row.version,
    type: row.type,
    ...(row.description === null ? {} : { description: row.description }),
    codeHash: row.code_hash,
    ...(row.code_url === null ? {} : { codeUrl: row.code_url }),
    ...(row.dedupe === null ? {} : { dedupe: row.dedupe }),
    hasAdditionalProps: row.has_additional_props,
    dependencies: row.dependencies,
    ...(row.published_ms === null ? {} : { publishedAt: new Date(row.published_ms) }),
    createdAt: new Date(row.created_ms),
    updatedAt: new Date(row.updated_ms),
  };
}
