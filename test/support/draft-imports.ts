import { HeadwaterError } from '@headwater/shared';
import type { ComponentRecord } from '../../engine/src/contract/components.ts';
import type { ImportOptions } from '../../engine/src/registry/imports.ts';
import type { Sql } from '../../engine/src/db/database.ts';
import { testLog } from './logs.ts';

type Given = Partial<Pick<ImportOptions, 'saveFiles' | 'builder' | 'leaseSeconds'>>;

/**
 * Options of a node that imports drafts. By default each component is saved as `sc_1`, and imports
 * no other file.
 */
export function draftImports(sql: Sql, given: Given): ImportOptions {
  const unused = () => Promise.reject(new HeadwaterError('INVALID_REQUEST', 'drafts are not published'));
  return {
    sql,
    log: testLog,
    components: { publish: unused },
    registry: { publish: unused },
    saveFiles: async () => savedAs('sc_1'),
    builder: { listMissingFiles: async () => [] },
    ...given,
  };
}

export const savedAs = (id: string): ComponentRecord => ({ id, version: '1.0.0' }) as ComponentRecord;
