import { HeadwaterError, newId, notFound } from '@headwater/shared';
import type { Sql, Transaction } from '../db/index.ts';
import { copiedColumns, type KeyState, readKeyState } from './read-registry.sql.ts';
import { codeBytesOfRow, type CodeLimits, insertCode } from '../accounts/index.ts';

/**
 * Allows one publication at a time in the whole registry, so that the judged state is the stored
 * state. Publications are rare.
 */
const PUBLISH_LOCK = 4_815_162_345;

export interface RegistryCandidate {
  accountId: string;
  componentId: string;
  key: string;
  prefix: string;
  app?: string;
}

/** Throws, or returns the id of an identical version, or undefined if a new one is to be stored. */
export type Judge = (state: KeyState) => string | undefined;

/**
 * Copies a saved component into the registry. Returns the id of the version there. Throws NOT_FOUND
 * if the component is gone.
 */
export async function publishToRegistry(sql: Sql, candidate: RegistryCandidate, judge: Judge): Promise<string> {
  const { accountId, componentId, key, prefix, app } = candidate;
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${PUBLISH_LOCK}::bigint)`;
    const same = judge(await readKeyState(tx, { key, prefix, publisher: accountId }));
    if (same !== undefined) return same;
    await requireOwnBundle(tx, accountId, componentId);
    await tx`update registry_components set is_newest = false where key = ${key} and is_newest`;
    const id = newId('savedComponent');
    const rows = await tx`
      insert into registry_components (id, publisher, app, ${copiedColumns(tx)})
      select ${id}, ${accountId}, ${app ?? null}, ${copiedColumns(tx)} from components
      where account_id = ${accountId} and id = ${componentId} and deleted_at is null returning id`;
    // It was deleted since it was found.
    if (rows.length === 0) throw notFound('component', componentId);
    return id;
  });
}

/**
 * An archive may show other code than its bundle runs, and readers of the registry see the code. A
 * component that is saved here again has the bundle that was built here. A copy from the registry
 * is one only if it is as the version there: an archive names any version.
 */
async function requireOwnBundle(tx: Transaction, accountId: string, componentId: string): Promise<void> {
  const columns = tx`key, version, name, type, description, code, bundle, source_map, dependencies, dedupe, hooks,
    configurable_props, has_additional_props`;
  const imported = await tx`
    select from components c
    where account_id = ${accountId} and id = ${componentId} and bundle_format = 0 and not exists (
      select ${columns} from components where id = c.id
      intersect select ${columns} from registry_components where id = c.registry_id)`;
  if (imported.length === 0) return;
  throw new HeadwaterError(
    'CONFLICT',
    `The bundle of ${componentId} was not built on this instance. Save its code again (POST /v1/components), and publish that.`,
  );
}

/** A component that comes with the server, as it is stored. */
export interface SeedComponent {
  key: string;
  version: string;
  name: string;
  type: string;
  description: string | null;
  code: string;
  code_hash: string;
  bundle: string;
  source_map: string;
  bundle_hash: string;
  dedupe: string | null;
  hooks: string[];
  configurable_props: unknown;
  has_additional_props: boolean;
}

export async function readSeededHashes(sql: Sql): Promise<Set<string>> {
  const rows = await sql<{ code_hash: string }[]>`select code_hash from registry_components where publisher is null`;
  return new Set(rows.map((row) => row.code_hash));
}

/**
 * Adds missing versions. If another publisher has a key, its component stays. Returns the keys that
 * were skipped.
 */
export async function seedRegistry(sql: Sql, components: readonly SeedComponent[]): Promise<string[]> {
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${PUBLISH_LOCK}::bigint)`;
    const passedOver: string[] = [];
    for (const component of components) if (!(await seedOne(tx, component))) passedOver.push(component.key);
    return passedOver;
  });
}

async function seedOne(tx: Transaction, component: SeedComponent): Promise<boolean> {
  const { key, version } = component;
  const known = await tx<{ version: string; publisher: string | null }[]>`
    select version, publisher from registry_components where key = ${key}`;
  if (known.some((row) => row.publisher !== null)) return false;
  if (known.some((row) => row.version === version)) return true;
  await tx`update registry_components set is_newest = false where key = ${key} and is_newest`;
  const row = JSON.stringify([{ id: newId('savedComponent'), ...component }]);
  await tx`
    insert into registry_components (id, ${copiedColumns(tx)})
    select id, key, version, name, type, description, code, code_hash, null, bundle, source_map, bundle_hash, now(), 0,
      '{}'::jsonb, dedupe, array(select jsonb_array_elements_text(hooks)), configurable_props, has_additional_props
    from jsonb_to_recordset(${row}::text::jsonb) as given (id text, key text, version text, name text, type text,
      description text, code text, code_hash text, bundle text, source_map text, bundle_hash text, dedupe text, hooks jsonb,
      configurable_props jsonb, has_additional_props boolean)`;
  return true;
}

/** Deletes the version's code. If it was the newest, the version before becomes the newest. */
export async function withdrawFromRegistry(sql: Sql, id: string): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${PUBLISH_LOCK}::bigint)`;
    const [row] = await tx<{ key: string }[]>`
      update registry_components set withdrawn_at = now(), is_newest = false, code = '', bundle = '',
        source_map = null, bundle_hash = null
      where id = ${id} and withdrawn_at is null returning key`;
    if (row === undefined) return;
    await tx`update registry_components set is_newest = false where key = ${row.key} and is_newest`;
    await tx`
      update registry_components set is_newest = true where id = (
        select id from registry_components where key = ${row.key} and withdrawn_at is null order by seq desc limit 1)`;
  });
}

/** Publisher of a version. Undefined: no such version. Null: it comes with the server. */
export async function readPublisher(sql: Sql, id: string): Promise<string | null | undefined> {
  const [row] = await sql<{ publisher: string | null }[]>`select publisher from registry_components where id = ${id}`;
  return row?.publisher;
}

/** The account's copy of a registry version; undefined if it has none. */
export async function findCopy(sql: Sql, accountId: string, registryId: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select id from components where account_id = ${accountId} and registry_id = ${registryId}`;
  return row?.id;
}

/**
 * Copies a version of the registry into an account, once. Answers the id of the copy; undefined
 * where the version is gone. Throws CONFLICT where the account has no room for it.
 */
export async function copyFromRegistry(
  sql: Sql,
  accountId: string,
  registryId: string,
  limits: CodeLimits,
): Promise<string | undefined> {
  const [version] = await sql<{ bytes: number }[]>`
    select ${codeBytesOfRow(sql)} as bytes
    from registry_components where id = ${registryId} and withdrawn_at is null`;
  if (version === undefined) return undefined;
  await insertCode(
    sql,
    accountId,
    limits,
    version.bytes,
    (tx) => tx`
      insert into components (id, account_id, registry_id, ${copiedColumns(tx)})
      select ${newId('savedComponent')}, ${accountId}, id, ${copiedColumns(tx)} from registry_components
      where id = ${registryId} and withdrawn_at is null
      on conflict (account_id, registry_id) where registry_id is not null do nothing`,
  );
  return findCopy(sql, accountId, registryId);
}

/** The account of a saved component, for the operator. */
export async function readComponentOwner(sql: Sql, id: string): Promise<string | undefined> {
  const [row] = await sql<{ account_id: string }[]>`
    select account_id from components where id = ${id} and deleted_at is null and registry_id is null`;
  return row?.account_id;
}
