import type { ComponentBundle } from '@headwater/sandbox-runtime';
import { type ComponentDescription, HeadwaterError } from '@headwater/shared';
import { codeBytes, type CodeLimits, insertCode } from '../accounts/index.ts';
import type { ComponentListRequest, ComponentRecord, ComponentSummary, Page } from '../contract/index.ts';
import { type Database, inPageOrder, namedLike, readPage, type Sql, type Transaction } from '../db/index.ts';
import { readComponent, readComponentSummaries } from './read-component.sql.ts';

export interface NewComponent extends ComponentDescription {
  id: string;
  accountId: string;
  code: string;
  codeHash: string;
  codeUrl?: string;
  bundle: ComponentBundle;
  dependencies: Record<string, string>;
  builtAt: Date;
  /**
   * It was given with a step or a source, and not saved by itself: it goes when nothing runs it any
   * more.
   */
  ofStep: boolean;
  bundleFormat: number;
}

/**
 * Throws CONFLICT if the account has no room for it, or if it is deleted before it can be read
 * back.
 */
export async function createComponent(
  db: Database,
  component: NewComponent,
  limits: CodeLimits,
): Promise<ComponentRecord> {
  const { id, accountId } = component;
  await insertCode(db.sql, accountId, limits, codeBytes(component), (tx) => insertComponent(tx, component));
  const record = await readComponent(db, accountId, id);
  if (record === undefined) throw new HeadwaterError('CONFLICT', `The component ${id} was deleted meanwhile`);
  return record;
}

async function insertComponent(tx: Transaction, component: NewComponent): Promise<void> {
  const { id, accountId, name, key, version, type, description, code, codeHash, codeUrl, bundle, dedupe } = component;
  const { hooks, props, hasAdditionalProps, dependencies, builtAt, bundleFormat, ofStep } = component;
  await tx`
    insert into components (id, account_id, name, key, version, type, description, code, code_hash, code_url, bundle,
      source_map, bundle_hash, dedupe, hooks, configurable_props, has_additional_props, dependencies, built_at,
      bundle_format, of_step)
    values (${id}, ${accountId}, ${name}, ${key ?? null}, ${version}, ${type}, ${description ?? null}, ${code}, ${codeHash},
      ${codeUrl ?? null}, ${bundle.code}, ${bundle.sourceMap}, ${bundle.hash}, ${dedupe ?? null}, ${[...hooks]}::text[],
      ${JSON.stringify(props)}::text::jsonb, ${hasAdditionalProps}, ${JSON.stringify(dependencies)}::text::jsonb,
      to_timestamp(${builtAt.getTime()}::float8 / 1000), ${bundleFormat}, ${ofStep})`;
}

/**
 * Keeps a component as if it had been saved by itself. If its bundle was not built on this
 * instance, everything that came from an archive is replaced. Returns false if nothing changed.
 */
export async function keepComponent({ sql }: Database, id: string, prepared: NewComponent): Promise<boolean> {
  const { accountId, type, description, code, bundle, dedupe, hooks, props, hasAdditionalProps } = prepared;
  const { dependencies, builtAt, bundleFormat } = prepared;
  const rows = await sql`
    update components set of_step = false, type = ${type}, description = ${description ?? null}, code = ${code},
      bundle = ${bundle.code}, source_map = ${bundle.sourceMap}, dedupe = ${dedupe ?? null},
      hooks = ${[...hooks]}::text[], configurable_props = ${JSON.stringify(props)}::text::jsonb,
      has_additional_props = ${hasAdditionalProps}, dependencies = ${JSON.stringify(dependencies)}::text::jsonb,
      built_at = to_timestamp(${builtAt.getTime()}::float8 / 1000), bundle_format = ${bundleFormat}
    where account_id = ${accountId} and id = ${id} and (of_step or bundle_format <> ${bundleFormat})`;
  return rows.count > 0;
}

export interface ComponentUse {
  sources: number;
  workflows: number;
  webhooks: number;
}

/**
 * Answers how many sources, workflows and webhooks use it, by any version of theirs; with none of
 * them its code is gone, and the row too where no deleted source names it.
 */
export async function deleteComponent(sql: Sql, accountId: string, id: string): Promise<ComponentUse> {
  return sql.begin(async (tx) => {
    // A source that is being made holds the row by its foreign key, a workflow by a lock, and is
    // counted once it is there.
    await tx`select id from components where account_id = ${accountId} and id = ${id} for update`;
    const [count] = await tx<{ live: number; total: number }[]>`
      select count(*) filter (where deleted_at is null)::int as live, count(*)::int as total
      from sources where component_id = ${id}`;
    const { live = 0, total = 0 } = count ?? {};
    const [used] = await tx<{ workflows: number }[]>`
      select count(distinct workflow_id)::int as workflows from deployments
      where account_id = ${accountId} and steps @> ${JSON.stringify([{ componentId: id }])}::text::jsonb`;
    const [transforms] = await tx<{ webhooks: number }[]>`
      select count(*)::int as webhooks from webhooks where transform_id = ${id}`;
    const use = { sources: live, workflows: used?.workflows ?? 0, webhooks: transforms?.webhooks ?? 0 };
    if (use.sources + use.workflows + use.webhooks > 0) return use;
    if (total === 0) await tx`delete from components where account_id = ${accountId} and id = ${id}`;
    // Without its hash, the empty bundle is never taken for an earlier build.
    else
      await tx`
        update components set deleted_at = now(), published_at = null, registry_id = null, code = '', bundle = '',
          source_map = null, bundle_hash = null
        where account_id = ${accountId} and id = ${id}`;
    return use;
  });
}

/**
 * Deletes those of `ids` that came from the code of steps and that nothing refers to any more.
 * Components with a key and published ones stay, because users can look them up. The caller's
 * transaction has deleted the versions that named them.
 */
export async function deleteStepComponents(tx: Transaction, accountId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  // A transaction that uses a component in a new version or source locks its row until commit. If
  // the row is unlocked, the next statement sees that use.
  const locked = await tx<{ id: string }[]>`
    select id from components where account_id = ${accountId} and id = any(${[...ids]}::text[])
      and of_step and key is null and published_at is null order by id for update skip locked`;
  if (locked.length === 0) return;
  await tx`
    delete from components c where c.id = any(${locked.map(({ id }) => id)}::text[])
      and not exists (select from emitters s where s.component_id = c.id)
      and not exists (
        select from deployments d where d.account_id = ${accountId}
          and d.steps @> jsonb_build_array(jsonb_build_object('componentId', c.id))
      )`;
}

export async function listComponents(
  db: Database,
  accountId: string,
  { type, query, key, isPublished, ...page }: ComponentListRequest,
): Promise<Page<ComponentSummary>> {
  const { sql } = db;
  const where = sql`and deleted_at is null and registry_id is null
    ${type === undefined ? sql`` : sql`and type = ${type}`}
    ${key === undefined ? sql`` : sql`and key = ${key}`}
    ${isPublished === undefined ? sql`` : sql`and (published_at is not null) = ${isPublished}`}
    ${namedLike(sql, ['name', 'key'], query)}`;
  const { ids, ...rest } = await readPage(sql, { table: 'components', accountId, where, order: 'created' }, page);
  return { ...rest, items: inPageOrder(ids, await readComponentSummaries(db, accountId, ids)) };
}

/**
 * `taken`: another row with that key and version is published; the same code there counts as this
 * one.
 */
export type PublishOutcome = { kind: 'published'; id: string } | { kind: 'taken' } | { kind: 'absent' };

/**
 * Publishes a saved component in its account. One at a time for each account, so that of two
 * versions alike one is first.
 */
export async function publishComponent(sql: Sql, accountId: string, id: string): Promise<PublishOutcome> {
  return sql.begin(async (tx): Promise<PublishOutcome> => {
    await tx`select id from accounts where id = ${accountId} for no key update`;
    const [row] = await tx<{ key: string; version: string; code_hash: string }[]>`
      select key, version, code_hash from components
      where account_id = ${accountId} and id = ${id} and registry_id is null and deleted_at is null for update`;
    if (row === undefined) return { kind: 'absent' };
    const [known] = await tx<{ id: string; code_hash: string }[]>`
      select id, code_hash from components
      where account_id = ${accountId} and key = ${row.key} and version = ${row.version} and published_at is not null`;
    if (known !== undefined && known.id !== id)
      return known.code_hash === row.code_hash ? { kind: 'published', id: known.id } : { kind: 'taken' };
    await tx`
      update components set published_at = now(), updated_at = now()
      where account_id = ${accountId} and id = ${id} and published_at is null`;
    return { kind: 'published', id };
  });
}

export async function unpublishComponent(sql: Sql, accountId: string, id: string): Promise<void> {
  await sql`
    update components set published_at = null, updated_at = now()
    where account_id = ${accountId} and id = ${id} and published_at is not null`;
}
