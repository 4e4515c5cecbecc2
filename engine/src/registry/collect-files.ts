import type { ComponentFiles, MissingFile } from '@headwater/sandbox-runtime';
import { HeadwaterError, LIMITS } from '@headwater/shared';
import { type ComponentTree, pinPackages } from './component-tree.ts';

/** A chain of imports longer than this is given up. */
const MAX_ROUNDS = 40;

/** A component of a tree with the files that it imports by relative paths. Throws INVALID_COMPONENT with what is missing. */
export async function collectFiles(
  tree: ComponentTree,
  entry: string,
  listMissingFiles: (component: ComponentFiles) => Promise<MissingFile[]>,
): Promise<ComponentFiles> {
  const files: Record<string, string> = { [entry]: pinPackages(tree, entry) };
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const missing = await listMissingFiles({ entry, files });
    if (missing.length === 0) return { entry, files };
    for (const { path, importer, candidates } of missing) {
      const found = candidates.find((name) => Object.hasOwn(tree, name));
      if (found === undefined) throw refuse(`Cannot resolve "${path}", imported by ${importer}: there is no such file`);
      files[found] = pinPackages(tree, found);
    }
    if (Object.keys(files).length > LIMITS.maxComponentFiles)
      throw refuse(`The component has more than ${LIMITS.maxComponentFiles} files`);
  }
  throw refuse(`The imports are more than ${MAX_ROUNDS} files deep`);
}

function refuse(message: string): HeadwaterError {
  return new HeadwaterError('INVALID_COMPONENT', message, { fields: [{ path: 'files', message }] });
}
