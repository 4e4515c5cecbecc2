import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { usageError } from '../cli-error.ts';

/**
 * Files that a component may need. Other files of the folder (texts, pictures, locks) stay here.
 */
const NEEDED = /(?<!\.d)\.(?:[cm]?js|[cm]?ts|json)$/;
const LEFT_OUT = new Set(['node_modules', 'package-lock.json', 'dist', 'coverage']);

/** Text by path from the folder on, with `/` between. */
export type FileTree = Readonly<Record<string, string>>;

export async function readFolder(folder: string, word: string): Promise<FileTree> {
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory() !== true) throw usageError(`There is no folder ${word}`);
  const files: Record<string, string> = {};
  await collect(folder, '', files);
  return files;
}

async function collect(folder: string, prefix: string, files: Record<string, string>): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith('.') || LEFT_OUT.has(entry.name)) continue;
    const name = prefix + entry.name;
    // Links are left out: they could lead anywhere on this machine.
    if (entry.isDirectory()) await collect(path.join(folder, entry.name), `${name}/`, files);
    else if (entry.isFile() && NEEDED.test(entry.name))
      files[name] = await readFile(path.join(folder, entry.name), 'utf8');
  }
}

/**
 * The tree in parts that a request can carry, each of whole folders of the top level; files beside
 * them are in every part. One folder that is too large is a part of its own, which the server
 * refuses with its limit.
 */
export function splitTree(tree: FileTree, maxBytes: number): FileTree[] {
  const { depth, shared, groups } = groupByTop(tree);
  if (depth === undefined) return [tree];
  const sharedBytes = bytesOfTree(shared);
  const parts: Record<string, string>[] = [];
  let room = 0;
  for (const group of groups) {
    const bytes = bytesOfTree(group);
    const last = parts.at(-1);
    if (last === undefined || bytes > room) {
      parts.push({ ...shared, ...group });
      room = maxBytes - sharedBytes - bytes;
    } else {
      Object.assign(last, group);
      room -= bytes;
    }
  }
  return parts;
}

/**
 * Folders at the first level that has several; a level with one folder alone (`components/`) is
 * passed.
 */
function groupByTop(tree: FileTree): { depth: number | undefined; shared: FileTree; groups: FileTree[] } {
  const paths = Object.keys(tree).map((name) => name.split('/'));
  const deepest = Math.max(0, ...paths.map((parts) => parts.length));
  for (let depth = 1; depth < deepest; depth++) {
    const tops = Map.groupBy(
      paths.filter((parts) => parts.length > depth),
      (parts) => parts.slice(0, depth).join('/'),
    );
    if (tops.size < 2) continue;
    const pick = (chosen: readonly string[][]): FileTree =>
      Object.fromEntries(chosen.map((parts) => [parts.join('/'), tree[parts.join('/')] ?? '']));
    const groups = [...tops.values()].map(pick);
    return { depth, shared: pick(paths.filter((parts) => parts.length <= depth)), groups };
  }
  return { depth: undefined, shared: {}, groups: [] };
}

export function bytesOfTree(tree: FileTree): number {
  return Object.entries(tree).reduce(
    (sum, [name, text]) => sum + JSON.stringify(name).length + Buffer.byteLength(JSON.stringify(text)) + 2,
    0,
  );
}
