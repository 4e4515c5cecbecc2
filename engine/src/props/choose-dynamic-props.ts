import { HeadwaterError, type PropDefinition } from '@headwater/shared';
import type { ComponentRecord } from '../contract/index.ts';
import type { Sql } from '../db/index.ts';
import { readDynamicProps } from './dynamic-props.sql.ts';

/**
 * The definitions that `dynamic_props_id` names, which must have been made by the component or by
 * the same code. Throws INVALID_REQUEST.
 */
export async function requireDynamicProps(
  sql: Sql,
  accountId: string,
  id: string,
  component: Pick<ComponentRecord, 'id' | 'codeHash'>,
): Promise<PropDefinition[]> {
  const found = id.includes('\0') ? undefined : await readDynamicProps(sql, accountId, id);
  if (found === undefined)
    throw invalid(`The dynamic props ${id} are not in this account, or were deleted; ask for them again`);
  if (found.componentId === component.id || found.codeHash === component.codeHash) return found.definitions;
  throw invalid(`The dynamic props ${id} were made by other code, the component ${found.componentId}`);
}

function invalid(message: string): HeadwaterError {
  return new HeadwaterError('INVALID_REQUEST', message, { fields: [{ path: 'dynamic_props_id', message }] });
}
