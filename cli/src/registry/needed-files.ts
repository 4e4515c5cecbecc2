import path from 'node:path';
import type { FileTree } from './read-tree.ts';

const CODE = /\.(?:[cm]?js|[cm]?ts)$/;
/** The server looks for components there. */
const OF_COMPONENTS = /(?:^|\/)(?:sources|actions)\//;
const RELATIVE_PATH = /(["'`])(\.{1,2}\/[^"'`\n]*|\.{1,2})\1/g;
const ENDINGS = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.json'];

/**
 * Selects the files to send: code in folders of components, relative imports, and each package.json
 * above. Other files stay here, because a folder may also hold settings and keys.
 */
export function neededFiles(tree: FileTree): FileTree {
  const needed = new Set(Object.keys(tree).filter((name) => OF_COMPONENTS.test(name) && CODE.test(name)));
  // A Set also iterates over names that are added during the loop.
  for (const name of needed) {
    if (CODE.test(name)) for (const found of importedBy(tree, name)) needed.add(found);
    for (let at = path.posix.dirname(name); ; at = path.posix.dirname(at)) {
      const manifest = path.posix.join(at, 'package.json');
      if (Object.hasOwn(tree, manifest)) needed.add(manifest);
      if (at === '.') break;
    }
  }
  return Object.fromEntries(Object.entries(tree).filter(([name]) => needed.has(name)));
}

/** More than it imports, where a path stands in a text or a comment. */
function importedBy(tree: FileTree, name: string): string[] {
  const folder = path.posix.dirname(name);
  return [...(tree[name] ?? '').matchAll(RELATIVE_PATH)]
    .map(([, , relative = '']) => path.posix.join(folder, relative).replace(/\/$/, ''))
    .flatMap(candidates)
    .filter((candidate) => Object.hasOwn(tree, candidate));
}

/** As the server looks for them; `./x.js` may be written in `x.ts`. */
function candidates(imported: string): string[] {
  const bare = imported.replace(/\.([cm]?)js$/, '');
  return [imported, ...ENDINGS.flatMap((ending) => [imported + ending, bare + ending, `${imported}/index${ending}`])];
}
