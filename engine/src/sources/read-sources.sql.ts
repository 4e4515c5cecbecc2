import { LIMITS, type PropDefinition } from '@headwater/shared';
import type { Durability, Preflight } from '../contract/index.ts';
import type { Sql } from '../db/index.ts';
import { inIndexOrder } from '../events/index.ts';
import { mergeDefinitions } from '../props/index.ts';

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

export interface SourceActivity {
  id: string;
  last_event_ms: number | null;
  last_error_ms: number | null;
  /** Its beginning; null where the run is not kept any more. */
  last_error_message: string | null;
}

/** Characters of a message: a row of a list shows no more. */
const MESSAGE_CHARS = 300;

/**
 * When each source emitted last, and when it failed last and why. A source that does nothing but
 * fail has no index that leads to its own events, so only its newest ones are looked through.
 */
export async function readSourceActivity(sql: Sql, ids: readonly string[]): Promise<SourceActivity[]> {
  if (ids.length === 0) return [];
  return inIndexOrder(
    sql,
    (tx) => tx<SourceActivity[]>`
      select s.id, emitted.indexed_at_ms as last_event_ms, failed.indexed_at_ms as last_error_ms,
        left(r.error_message, ${MESSAGE_CHARS}::int4) as last_error_message
      from unnest(${[...ids]}::text[]) as s(id)
        left join lateral (
          select indexed_at_ms from (
            select indexed_at_ms, seq, channel from events where emitter_id = s.id
            order by indexed_at_ms desc, seq desc limit ${LIMITS.minScannedEvents}
          ) as newest
          where left(channel, 1) <> '$' order by indexed_at_ms desc, seq desc limit 1
        ) as emitted on true
        left join lateral (
          select indexed_at_ms, invocation_id from events where emitter_id = s.id and channel = '$errors'
          order by indexed_at_ms desc, seq desc limit 1
        ) as failed on true
        left join runs r on r.id = failed.invocation_id collate "C"`,
  );
}
