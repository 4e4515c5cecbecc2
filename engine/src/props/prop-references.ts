import type { PropDefinition } from '@headwater/shared';
import type { Sql } from '../db/index.ts';
import { findDataStores } from '../data-stores/index.ts';
import { type KnownApp, findApps, findProvisions } from './read-prop-references.sql.ts';

/** The things named by configured props that are there, in the account and among its apps. */
export interface PropReferences {
  dataStores: ReadonlySet<string>;
  /** Id of a connected account → slug of its app. */
  provisions: ReadonlyMap<string, string>;
  /** By slug. */
  apps: ReadonlyMap<string, KnownApp>;
}

/** Looks up what the values of app and data_store props name; other accounts' are not found. */
export async function readPropReferences(
  sql: Sql,
  accountId: string,
  definitions: readonly PropDefinition[],
  values: Readonly<Record<string, unknown>>,
): Promise<PropReferences> {
  const valuesOf = (type: string) => definitions.filter((each) => each.type === type).map(({ name }) => values[name]);
  const storeIds = valuesOf('data_store').flatMap((value) => dataStoreIdOf(value) ?? []);
  const provisionIds = valuesOf('app').flatMap((value) => provisionIdOf(value) ?? []);
  const slugs = definitions.flatMap((definition) => (definition.type === 'app' ? [appSlugOf(definition)] : []));
  const [dataStores, provisions, apps] = await Promise.all([
    storeIds.length === 0 ? new Set<string>() : findDataStores(sql, accountId, storeIds),
    provisionIds.length === 0 ? new Map<string, string>() : findProvisions(sql, accountId, provisionIds),
    slugs.length === 0 ? new Map<string, KnownApp>() : findApps(sql, accountId, slugs),
  ]);
  return { dataStores, provisions, apps };
}

/** The value of a data_store prop is `"ds_…"` or `{ "id": "ds_…" }`. */
export function dataStoreIdOf(value: unknown): string | undefined {
  const id = typeof value === 'object' && value !== null ? (value as { id?: unknown }).id : value;
  return isId(id, 'ds_') ? id : undefined;
}

/** The value of an app prop is `{ "authProvisionId": "apn_…" }`. */
export function provisionIdOf(value: unknown): string | undefined {
  const id = (value as { authProvisionId?: unknown } | null | undefined)?.authProvisionId;
  return isId(id, 'apn_') ? id : undefined;
}

/** The slug that an app prop is of; '' where its component leaves it out. */
export function appSlugOf(definition: PropDefinition): string {
  const slug = definition['app'];
  return typeof slug === 'string' ? slug : '';
}

// Postgres cannot store a NUL in text: the query would fail.
function isId(value: unknown, prefix: string): value is string {
  return typeof value === 'string' && value.startsWith(prefix) && !value.includes('\0');
}
