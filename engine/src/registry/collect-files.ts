import path from 'node:path';
import type { ComponentFiles, MissingFile } from '@headwater/sandbox-runtime';
import { type ExceededLimit, HeadwaterError, LIMITS } from '@headwater/shared';
import { askedVersions, isPlainPath, pinPackages } from './component-tree.ts';

/** The files of an import. */
export interface StoredFiles {
  /** Bytes, by path, of those that are there. */
  sizes(paths: readonly string[]): Promise<ReadonlyMap<string, number>>;
  read(paths: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Texts of the package.json in a folder and those above it, the nearest first. */
  manifests(folder: string): Promise<string[]>;
}

/** A chain of imports longer than this is given up. */
const MAX_ROUNDS = 40;

/**
 * A component of an import with the files that it imports by relative paths. Throws
 * INVALID_COMPONENT with the missing files.
 */
export async function collectFiles(
  stored: StoredFiles,
  entry: string,
  listMissingFiles: (component: ComponentFiles) => Promise<MissingFile[]>,
): Promise<ComponentFiles> {
  const files = Object.create(null) as Record<string, string>;
  const add = createAdder(stored, files);
  await add([entry], await stored.sizes([entry]));
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const missing = await listMissingFiles({ entry, files });
    if (missing.length === 0) return { entry, files };
    const sizes = await stored.sizes(missing.flatMap(({ candidates }) => candidates.filter(isPlainPath)));
    const found = missing.map(({ path: written, importer, candidates }) => {
      const name = candidates.find((candidate) => sizes.has(candidate));
      if (name !== undefined) return name;
      throw refuse(`Cannot resolve "${written}", imported by ${importer}: there is no such file`);
    });
    await add([...new Set(found)], sizes);
  }
  throw refuse(`The imports are more than ${MAX_ROUNDS} files deep`);
}

/**
 * Reads files into `files`, but not before their number and bytes are known to be no more than a
 * component may have.
 */
function createAdder(stored: StoredFiles, files: Record<string, string>) {
  const versionsOf = new Map<string, ReadonlyMap<string, string>>();
  let bytes = 0;

  async function pin(name: string, text: string): Promise<string> {
    const folder = path.posix.dirname(name);
    const versions = versionsOf.get(folder) ?? (await askedVersions(await stored.manifests(folder)));
    versionsOf.set(folder, versions);
    return pinPackages(text, versions);
  }

  return async (names: readonly string[], sizes: ReadonlyMap<string, number>): Promise<void> => {
    check('maxComponentFiles', Object.keys(files).length + names.length, 'files');
    check(
      'maxComponentCodeBytes',
      names.reduce((sum, name) => sum + (sizes.get(name) ?? 0), bytes),
      'bytes',
    );
    for (const [name, text] of await stored.read(names)) {
      const pinned = await pin(name, text);
      bytes += Buffer.byteLength(pinned);
      check('maxComponentCodeBytes', bytes, 'bytes');
      files[name] = pinned;
    }
  };
}

function check(name: 'maxComponentFiles' | 'maxComponentCodeBytes', used: number, what: string): void {
  const value = LIMITS[name];
  if (used > value) throw refuse(`The component has more than ${value} ${what}`, { name, value, used });
}

function refuse(message: string, limit?: ExceededLimit): HeadwaterError {
  const fields = [{ path: 'files', message }];
  return new HeadwaterError('INVALID_COMPONENT', message, { fields, ...(limit === undefined ? {} : { limit }) });
}
