import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';

/**
 * Versions as they may stand in an import: exact, tilde or caret. Anything else (`*`,
 * `workspace:…`, a tag) is left out.
 */
const PINNABLE = /^[~^]?\d+(\.\d+)*([-+][\w.+-]+)?$/;
const SPECIFIER = /^(@[^/@]+\/[^/@]+|[^/@]+)(@[^/]+)?(\/.*)?$/;

/**
 * Adds to package imports the versions that the nearest package.json of the importing file asks
 * for.
 */
export interface PackageVersions {
  /**
   * `axios` → `axios@^1.2.0`. Unchanged if it has a version, is a module of Node, or is declared
   * nowhere below the root.
   */
  pin(specifier: string, importer: string): string;
}

/** Reads each package.json once, from the importer's folder up to `root`, and never above. */
export function createPackageVersions(root: string): PackageVersions {
  const known = new Map<string, Record<string, string>>();
  const read = (folder: string): Record<string, string> => {
    const cached = known.get(folder);
    if (cached !== undefined) return cached;
    const versions = readDependencies(path.join(folder, 'package.json'));
    known.set(folder, versions);
    return versions;
  };
  return {
    pin(specifier, importer) {
      const [, name, version, subpath = ''] = SPECIFIER.exec(specifier) ?? [];
      if (name === undefined || version !== undefined || isBuiltin(specifier)) return specifier;
      for (const folder of foldersUp(path.dirname(importer), root)) {
        const asked = read(folder)[name];
        if (asked !== undefined) return PINNABLE.test(asked) ? `${name}@${asked}${subpath}` : specifier;
      }
      return specifier;
    },
  };
}

function isBuiltin(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier);
}

function* foldersUp(from: string, root: string): Generator<string> {
  for (let folder = from; ; folder = path.dirname(folder)) {
    yield folder;
    if (folder === root || folder === path.dirname(folder)) return;
  }
}

function readDependencies(file: string): Record<string, string> {
  try {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(file, 'utf8')) as Record<
      string,
      Record<string, string> | undefined
    >;
    return { ...devDependencies, ...dependencies };
  } catch {
    // Missing or broken: the folder above decides, and without any the newest version is used.
    return {};
  }
}
