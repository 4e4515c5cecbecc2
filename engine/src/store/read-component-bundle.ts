import type { ComponentBundle } from '@headwater/sandbox-runtime';
import type { Sql } from './database.ts';

/** Of a component that the caller may use, of an account or the registry: whoever asks has found it for an account before. */
export async function readComponentBundle(sql: Sql, componentId: string): Promise<ComponentBundle | undefined> {
  const [row] = await sql<{ bundle: string; source_map: string | null; hash: string }[]>`
    select bundle, source_map, coalesce(bundle_hash, code_hash) as hash from components where id = ${componentId}
    union all
    select bundle, source_map, coalesce(bundle_hash, code_hash) from registry_components where id = ${componentId}`;
  return row && { code: row.bundle, sourceMap: row.source_map ?? '', hash: row.hash };
}
