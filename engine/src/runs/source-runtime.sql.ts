import type { DedupeStrategy, HookName, PropDefinition } from '@headwater/shared';
import type { Sql } from '../db/index.ts';
import { mergeDefinitions } from '../props/index.ts';

/** Everything that running a source needs but the code, in one row. */
export interface SourceRuntimeRow {
  id: string;
  account_id: string;
  name: string;
  active: boolean;
  deleted: boolean;
  revision: number;
  configured_props: Record<string, unknown>;
  /** Bytes of the configured props as JSON. */
  configured_bytes: number;
  component_id: string;
  dedupe: DedupeStrategy | null;
  hooks: HookName[];
  /** Its component's, merged with its dynamic ones. */
  configurable_props: PropDefinition[];
  endpoints: Record<string, string> | null;
}

export async function readSourceRuntime(sql: Sql, sourceId: string): Promise<SourceRuntimeRow | undefined> {
  const rows = await sql<(SourceRuntimeRow & { dynamic_props: PropDefinition[] })[]>`
    select s.id, s.account_id, s.name, s.active, s.deleted_at is not null as deleted, s.revision, s.configured_props,
      octet_length(s.configured_props::text) as configured_bytes,
      s.component_id, c.dedupe, c.hooks, c.configurable_props, s.dynamic_props,
      (select json_object_agg(e.prop_name, e.key) from endpoints e where e.source_id = s.id) as endpoints
    from sources s join components c on c.id = s.component_id
    where s.id = ${sourceId}`;
  const [row] = rows;
  if (row === undefined) return undefined;
  const { dynamic_props: dynamicProps, ...runtime } = row;
  return { ...runtime, configurable_props: mergeDefinitions(row.configurable_props, dynamicProps) };
}

/**
 * Owner of a source or workflow; undefined if it cannot run. `inTurn`: its settings control when
 * its executions start.
 */
export async function readSourceAccount(
  sql: Sql,
  sourceId: string,
): Promise<{ accountId: string; inTurn: boolean } | undefined> {
  const [row] = await sql<{ accountId: string; inTurn: boolean }[]>`
    select account_id as "accountId", in_turn as "inTurn" from emitters
    where id = ${sourceId} and active and deleted_at is null`;
  return row;
}

/** A value of a source's `$.service.db` as JSON text. */
export async function readDbValue(sql: Sql, sourceId: string, key: string): Promise<string | undefined> {
  const rows = await sql<{ value: string }[]>`
    select value from component_db where source_id = ${sourceId} and key = ${key}`;
  return rows[0]?.value;
}
