import type { Built, ComponentBundle } from '@headwater/sandbox-runtime';
import type { Database, Sql } from '../db/index.ts';

export interface BundleSearch {
  codeHash: string;
  codeUrl?: string;
  format: number;
  /** In milliseconds; undefined: of any age. */
  maxAgeMs?: number;
}

export interface FoundBundle extends Built {
  builtAt: Date;
}

interface Row {
  bundle: string;
  source_map: string | null;
  bundle_hash: string;
  dependencies: Record<string, string>;
  built_at_ms: number;
}

/** The newest bundle of the same code in this account that was made with packages. */
export async function findBundle(
  { sql }: Database,
  accountId: string,
  { codeHash, codeUrl, format, maxAgeMs }: BundleSearch,
): Promise<FoundBundle | undefined> {
  const rows = await sql<Row[]>`
    select bundle, source_map, bundle_hash, dependencies, extract(epoch from built_at)::float8 * 1000 as built_at_ms
    from components
    where account_id = ${accountId} and code_hash = ${codeHash} and bundle_format = ${format}
      and code_url is not distinct from ${codeUrl ?? null} and dependencies <> '{}' and bundle_hash is not null
      and (${maxAgeMs ?? null}::float8 is null or built_at > now() - ${maxAgeMs ?? 0}::float8 * interval '1 millisecond')
    order by built_at desc limit 1`;
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    bundle: { code: row.bundle, sourceMap: row.source_map ?? '', hash: row.bundle_hash },
    dependencies: row.dependencies,
    builtAt: new Date(row.built_at_ms),
  };
}

/** Whether the account has a component with this code, whatever its packages. */
export async function hasCode(sql: Sql, accountId: string, codeHash: string): Promise<boolean> {
  const rows = await sql`
    select from components where account_id = ${accountId} and code_hash = ${codeHash} and deleted_at is null limit 1`;
  return rows.length > 0;
}

/**
 * The bundle of a component of an account or the registry; the caller has checked access. Undefined
 * if it was deleted or withdrawn since. Its stored code is empty then and does not match the hash,
 * by which sandbox processes know code.
 */
export async function readComponentBundle(sql: Sql, componentId: string): Promise<ComponentBundle | undefined> {
  const [row] = await sql<{ bundle: string; source_map: string | null; hash: string }[]>`
    select bundle, source_map, coalesce(bundle_hash, code_hash) as hash from components
    where id = ${componentId} and deleted_at is null and bundle <> ''
    union all
    select bundle, source_map, coalesce(bundle_hash, code_hash) from registry_components
    where id = ${componentId} and withdrawn_at is null and bundle <> ''`;
  return row && { code: row.bundle, sourceMap: row.source_map ?? '', hash: row.hash };
}

/** Bundle hash by id, for the components that still exist. */
export async function readBundleHashes(sql: Sql, componentIds: readonly string[]): Promise<Map<string, string>> {
  const ids = [...componentIds];
  const rows = await sql<{ id: string; hash: string }[]>`
    select id, coalesce(bundle_hash, code_hash) as hash from components
    where id = any(${ids}::text[]) and deleted_at is null
    union all
    select id, coalesce(bundle_hash, code_hash) from registry_components
    where id = any(${ids}::text[]) and withdrawn_at is null`;
  return new Map(rows.map(({ id, hash }) => [id, hash]));
}
