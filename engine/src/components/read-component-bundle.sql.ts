import type { ComponentBundle } from '@headwater/sandbox-runtime';
import type { Sql } from '../db/database.ts';

/**
 * Of a component that the caller may use, of an account or the registry: whoever asks has found it
 * for an account before. Undefined where it was deleted or withdrawn since: sandbox processes know
 * code by its hash, and the code that is left there, none, is not what its hash says.
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

/** Of those of these components that are there, by id. */
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
