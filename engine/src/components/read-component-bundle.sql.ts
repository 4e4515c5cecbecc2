import type { ComponentBundle } from '@headwater/sandbox-runtime';
import type { Sql } from '../db/database.ts';

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
