import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

const KINDS = new Set(['sources', 'actions']);
const SKIPPED_FOLDERS = new Set(['node_modules', '.git', 'dist']);
const CODE_FILE = /(?<!\.d)\.(mjs|cjs|js|mts|cts|ts)$/;

/**
 * Paths of the component files below `folder`, relative to it and sorted. Candidates are code files
 * below a folder `sources` or `actions`, not named or kept under `common…`. Their text has a
 * default export, a name, a version, and a run method or a base to inherit it from. Only the text
 * decides, so that helper modules do not count as failures.
 */
export async function findComponents(folder: string): Promise<string[]> {
  const found: string[] = [];
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const file = path.relative(folder, path.join(entry.parentPath, entry.name));
    if (entry.isFile() && isCandidate(file) && looksLikeComponent(await readFile(path.join(folder, file), 'utf8'))) {
      found.push(file);
    }
  }
  return found.sort();
}

/** The same order for the same seed and paths, on every machine. */
export function shuffle(paths: readonly string[], seed: string): string[] {
  const rank = (file: string) => createHash('sha256').update(`${seed}\n${file}`).digest('hex');
  const ranked = paths.map((file) => ({ file, rank: rank(file) }));
  return ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1)).map(({ file }) => file);
}

function isCandidate(file: string): boolean {
  const segments = file.split(path.sep);
  const kindAt = segments.findLastIndex((segment) => KINDS.has(segment));
  if (kindAt === -1 || kindAt === segments.length - 1 || !CODE_FILE.test(file)) return false;
  if (segments.some((segment) => SKIPPED_FOLDERS.has(segment))) return false;
  return !segments.slice(kindAt + 1).some((segment) => segment.startsWith('common'));
}

function looksLikeComponent(text: string): boolean {
  const isExported = /\bexport\s+default\b|\bas\s+default\b|\bmodule\.exports\s*=/.test(text);
  const hasRun = /\brun\b/.test(text) || /\.\.\.\s*[\w$]/.test(text);
  return isExported && hasRun && hasProperty(text, 'name') && hasProperty(text, 'version');
}

/**
 * `name:` or the short form `name,`, as a property of an object; a word in a comment or a string
 * rarely looks so.
 */
function hasProperty(text: string, name: string): boolean {
  return new RegExp(`(^|[{,\\s])["']?${name}["']?\\s*:|[{,]\\s*${name}\\s*[,}]`, 'm').test(text);
}
