import path from 'node:path';
import { LIMITS } from '@headwater/shared';
import type { Sql } from '../db/index.ts';
import { readImportSizes, readImportTexts, readNearestTexts } from './registry-import-files.sql.ts';
import type { StoredFiles } from './collect-files.ts';

/**
 * Each manifest is read and parsed for the files of its folder. Real projects do not nest this
 * many.
 */
const MAX_MANIFESTS = 8;

export function createStoredFiles(sql: Sql, importId: string): StoredFiles {
  return {
    sizes: (paths) => readImportSizes(sql, importId, paths),
    read: (paths) => readImportTexts(sql, importId, paths),
    manifests: (folder) =>
      readNearestTexts(sql, importId, manifestPaths(folder), {
        maxBytes: LIMITS.maxManifestBytes,
        maxFiles: MAX_MANIFESTS,
      }),
  };
}

function manifestPaths(folder: string): string[] {
  const paths: string[] = [];
  for (let at = folder; at !== '.'; at = path.posix.dirname(at)) paths.push(`${at}/package.json`);
  return [...paths, 'package.json'];
}
