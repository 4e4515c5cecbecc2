import type { Durability, Preflight } from '../contract/base.ts';
import type { PropDefinition } from '@headwater/shared';
import { mergeDefinitions } from '../props/merge-definitions.ts';
import type { Sql } from '../db/database.ts';

/** A deployed source with the data of its component for its public form. */
export interface SourceRow {
  id: string;
  account_id: string;
  user_id: string;
  component_id: string;
  name: string;
  name_slug: string;
  active: boolean;
  configured_props: Record<string, unknown>;
  /** Its component's, merged with its dynamic ones. */
  configurable_props: PropDefinition[];
  /** Those that `additionalProps` has answered for it. */
  dynamic_props: PropDefinition[];
  code_hash: string;
  has_additional_props: boolean;
  /** Its component's alone. */
  own_props: PropDefinition[];
  endpoints: Record<string, string> | null;
  preflight: Preflight;
  durability: Durability;
  revision: number;
  created_ms: number;
  updated_ms: number;
}

type StoredRow = Omit<SourceRow, 'configurable_props'>;

const columns = (sql: Sql) => sql`
  s.id, s.account_id, s.user_id, s.component_id, s.name, s.name_slug, s.active, s.preflight, s.durability, s.revision, s.configured_props,
  c.configurable_props as own_props, s.dynamic_props, c.code_hash, c.has_additional_props,
  (select json_object_agg(e.prop_name, e.key) from endpoints e where e.source_id = s.id) as endpoints,
  extract(epoch from s.created_at)::float8 * 1000 as created_ms,
  extract(epoch from s.updated_at)::float8 * 1000 as updated_ms`;

export async function readSource(sql: Sql, accountId: string, id: string): Promise<SourceRow | undefined> {
  const rows = await sql<StoredRow[]>`
    select ${columns(sql)} from sources s join components c on c.id = s.component_id
    where s.account_id = ${accountId} and s.id = ${id} and s.deleted_at is null and s.deployed_at is not null`;
  return rows[0] && withDynamicProps(rows[0]);
}

/** Those of `ids` that exist, in the order of `ids`. */
export async function readSourcesById(sql: Sql, accountId: string, ids: readonly string[]): Promise<SourceRow[]> {
  const rows = await sql<StoredRow[]>`
    select ${columns(sql)} from sources s join components c on c.id = s.component_id
    where s.account_id = ${accountId} and s.id = any(${[...ids]}::text[]) and s.deleted_at is null
    order by array_position(${[...ids]}::text[], s.id)`;
  return rows.map(withDynamicProps);
}

function withDynamicProps(row: StoredRow): SourceRow {
  return { ...row, configurable_props: mergeDefinitions(row.own_props, row.dynamic_props) };
}
