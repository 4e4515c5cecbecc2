import type { ComponentBundle } from '@headwater/sandbox-runtime';
import type { ComponentDescription } from '@headwater/shared';
import type { ComponentRecord } from '../contract-components.ts';
import type { Database } from './database.ts';
import { componentRecord, recordColumns } from './read-component.ts';
import { components } from './schema.ts';

export interface NewComponent extends ComponentDescription {
  id: string;
  accountId: string;
  code: string;
  codeHash: string;
  codeUrl?: string;
  bundle: ComponentBundle;
  dependencies: Record<string, string>;
  builtAt: Date;
  /** It was given as the code of a step: it goes with the last version of a workflow that has it. */
  ofStep: boolean;
  bundleFormat: number;
}

export async function createComponent(db: Database, component: NewComponent): Promise<ComponentRecord> {
  const { bundle, props, ...rest } = component;
  const rows = await db.orm
    .insert(components)
    .values({
      ...rest,
      bundle: bundle.code,
      sourceMap: bundle.sourceMap,
      bundleHash: bundle.hash,
      configurableProps: props,
    })
    .returning(recordColumns);
  return componentRecord(rows[0] as (typeof rows)[number]);
}
