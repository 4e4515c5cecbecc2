import type { ComponentBundle } from '@headwater/sandbox-runtime';
import { type ComponentDescription, HeadwaterError } from '@headwater/shared';
import type { ComponentRecord } from '../contract/components.ts';
import type { Database, Transaction } from '../db/database.ts';
import { readComponent } from './read-component.sql.ts';
import { type CodeLimits, codeBytes, insertCode } from '../accounts/require-code-room.sql.ts';

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

/** It is to stay as if it had been saved by itself. */
export async function keepComponent({ sql }: Database, accountId: string, id: string): Promise<void> {
  await sql`update components set of_step = false where account_id = ${accountId} and id = ${id} and of_step`;
}
