import type { ComponentType, DedupeStrategy, PropDefinition } from '@headwater/shared';
import type { RegistryRecord, RegistrySummary } from '../contract/index.ts';
import type { Sql, Transaction } from '../db/index.ts';

interface RegistryRow {
  id: string;
  app: string | null;
  key: string;
  version: string;
  name: string;
  type: ComponentType;
  description: string | null;
  code_hash: string;
  code_url: string | null;
  dedupe: DedupeStrategy | null;
  has_additional_props: boolean;
  dependencies: Record<string, string>;
  published_ms: number;
}

type WholeRow = RegistryRow & { code: string; configurable_props: PropDefinition[]; versions: string[] };

const summaryColumns = (sql: Sql) => sql`
  r.id, r.app, r.key, r.version, r.name, r.type, r.description, r.code_hash, r.code_url, r.dedupe, r.has_additional_props,
  r.dependencies, extract(epoch from r.published_at)::float8 * 1000 as published_ms`;

/** By id, or by key: of `version`, or the newest. Withdrawn versions are not there. */
export async function readRegistryComponent(
  sql: Sql,
  keyOrId: string,
  version?: string,
): Promise<RegistryRecord | undefined> {
  const rows = await sql<WholeRow[]>`
    select ${summaryColumns(sql)}, r.code, r.configurable_props,
      array(select version from registry_components v where v.key = r.key and v.withdrawn_at is null order by seq desc)
        as versions
    from registry_components r
    where (r.id = ${keyOrId} or r.key = ${keyOrId}) and r.withdrawn_at is null
      ${version === undefined ? sql`` : sql`and r.version = ${version}`}
    order by r.seq desc limit 1`;
  const [row] = rows;
  if (row === undefined) return undefined;
  const { code, configurable_props: configurableProps, versions } = row;
  return { ...summaryOf(row), code, configurableProps, versions };
}

export interface RegistryPageRequest {
  limit: number;
  /** In the search language: `requ:* & http:*`. Absent: no filter. */
  words?: string;
  type?: ComponentType;
  app?: string;
  after?: RegistryPlace;
  before?: RegistryPlace;
}

/** A place in the order of a search: `rank` 0 where name or key match, then 1. */
export interface RegistryPlace {
  rank: number;
  key: string;
}

/** The newest versions that fit, in the order of rank and key; `total` counts all of them. */
export async function readRegistryPage(
  sql: Sql,
  page: RegistryPageRequest,
): Promise<{ items: RegistrySummary[]; places: RegistryPlace[]; total: number }> {
  const { words, type, app, after, before } = page;
  const isUpward = before !== undefined && after === undefined;
  const named = words?.replaceAll(':*', ':*A');
  const rank =
    words === undefined || named === undefined
      ? sql`0`
      : sql`case when r.search @@ to_tsquery('simple', ${named}) then 0 else 1 end`;
  const found = sql`from registry_components r where r.is_newest
    ${words === undefined ? sql`` : sql`and r.search @@ to_tsquery('simple', ${words})`}
    ${type === undefined ? sql`` : sql`and r.type = ${type}`}
    ${app === undefined ? sql`` : sql`and r.app = ${app}`}`;
  const direction = isUpward ? sql`desc` : sql`asc`;
  const [rows, counted] = await Promise.all([
    sql<(RegistryRow & { rank: number })[]>`
      select ${summaryColumns(sql)}, ${rank} as rank ${found}
      ${after === undefined ? sql`` : sql`and (${rank}, r.key) > (${after.rank}::int, ${after.key}::text)`}
      ${before === undefined ? sql`` : sql`and (${rank}, r.key) < (${before.rank}::int, ${before.key}::text)`}
      order by rank ${direction}, r.key ${direction} limit ${page.limit}`,
    sql<{ total: number }[]>`select count(*)::int as total ${found}`,
  ]);
  const shown = isUpward ? rows.toReversed() : [...rows];
  return {
    items: shown.map(summaryOf),
    places: shown.map((row) => ({ rank: row.rank, key: row.key })),
    total: counted[0]?.total ?? 0,
  };
}

/** State of the registry that decides whether a new version is accepted. */
export interface KeyState {
  /** Versions of the key, newest first, withdrawn ones included. */
  versions: { id: string; version: string; publisher: string | null; codeHash: string; isWithdrawn: boolean }[];
  /** The first publisher of a key with this prefix and without an app; null: the server itself. */
  prefixOwner: { publisher: string | null } | undefined;
  /** Versions that the publisher has in the registry, withdrawn ones too. */
  published: number;
  /** Auth type of the app whose slug is the prefix. */
  prefixAppAuth: string | undefined;
}

export async function readKeyState(
  tx: Transaction,
  { key, prefix, publisher }: { key: string; prefix: string; publisher: string | null },
): Promise<KeyState> {
  const versions = await tx<
    { id: string; version: string; publisher: string | null; code_hash: string; gone: boolean }[]
  >`
    select id, version, publisher, code_hash, withdrawn_at is not null as gone
    from registry_components where key = ${key} order by seq desc`;
  const [owner] = await tx<{ publisher: string | null }[]>`
    select publisher from registry_components
    where app is null and starts_with(key, ${`${prefix}-`}) order by seq limit 1`;
  const [count] = await tx<{ published: number }[]>`
    select count(*)::int as published from registry_components where publisher = ${publisher}`;
  const [app] = await tx<{ auth: string }[]>`select definition ->> 'authType' as auth from apps where slug = ${prefix}`;
  return {
    versions: versions.map((row) => ({
      id: row.id,
      version: row.version,
      publisher: row.publisher,
      codeHash: row.code_hash,
      isWithdrawn: row.gone,
    })),
    prefixOwner: owner,
    published: count?.published ?? 0,
    prefixAppAuth: app?.auth,
  };
}

function summaryOf(row: RegistryRow): RegistrySummary {
  const published = new Date(row.published_ms);
  return {
    id: row.id,
    key: row.key,
    ...(row.app === null ? {} : { app: row.app }),
    name: row.name,
    version: row.version,
    type: row.type,
    ...(row.description === null ? {} : { description: row.description }),
    codeHash: row.code_hash,
    ...(row.code_url === null ? {} : { codeUrl: row.code_url }),
    ...(row.dedupe === null ? {} : { dedupe: row.dedupe }),
    hasAdditionalProps: row.has_additional_props,
    dependencies: row.dependencies,
    publishedAt: published,
    createdAt: published,
    updatedAt: published,
  };
}

/**
 * Columns that registry versions and saved components share. They are copied in both directions.
 */
export const copiedColumns = (sql: Sql | Transaction) => sql`
  key, version, name, type, description, code, code_hash, code_url, bundle, source_map, bundle_hash, built_at, bundle_format,
  dependencies, dedupe, hooks, configurable_props, has_additional_props`;
