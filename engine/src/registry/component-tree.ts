import { isBuiltin } from 'node:module';
import { createGiveWay, type ExceededLimit, type FieldError, LIMITS } from '@headwater/shared';
import type { ImportFile } from './registry-import-files.sql.ts';

export interface ComponentTree {
  /** The files that code may import, and package.json. */
  files: ImportFile[];
  faults: FieldError[];
  /** The one that the first fault is about. */
  limit?: ExceededLimit;
}

const CODE = /(?<!\.d)\.(mjs|cjs|js|mts|cts|ts)$/;
const NEEDED = /\.(mjs|cjs|js|mts|cts|ts|json)$/;
const KINDS = new Set(['sources', 'actions']);
const MAX_PATH_CHARS = 512;
const MAX_FAULTS = 20;

/**
 * Reads a folder of apps: `<app>/<app>.app.mjs`, `<app>/sources/<name>/<name>.mjs`,
 * `<app>/actions/…`, `common/…`. There can be 24 MB of it, and the node has one thread: it gives
 * way after each file.
 */
export async function readComponentTree(given: Readonly<Record<string, string>>): Promise<ComponentTree> {
  const giveWay = createGiveWay();
  const faults: FieldError[] = [];
  const files: ImportFile[] = [];
  let bytes = 0;
  for (const [path, text] of Object.entries(given)) {
    await giveWay();
    if (!isPlainPath(path)) {
      const message = `${JSON.stringify(path.slice(0, 100))} is not a relative path of plain names`;
      if (faults.length < MAX_FAULTS) faults.push({ path: 'files', message });
    } else if (isNeeded(path)) {
      const file = fileOf(path, text);
      files.push(file);
      bytes += file.bytes;
    }
  }
  if (faults.length > 0) return { files, faults };
  const tooMany =
    findExcess('maxImportFiles', files.length, 'files of code') ?? findExcess('maxImportBytes', bytes, 'bytes of code');
  if (tooMany !== undefined) return { files, ...tooMany };
  return { files, ...(await markComponents(files)) };
}

/** Whether code may import it, or it says which packages it needs. */
export function isNeeded(path: string): boolean {
  return NEEDED.test(path);
}

/**
 * Whether a name is safe as an import path: it stays inside the import, and a database can store
 * it.
 */
export function isPlainPath(name: string): boolean {
  if (name.length > MAX_PATH_CHARS || !name.isWellFormed()) return false;
  return name.split('/').every((part) => /^[^\0\\/:]+$/.test(part) && part !== '.' && part !== '..');
}

/** No pattern is run over a text that is larger than code may be, and none of it is kept. */
function fileOf(path: string, text: string): ImportFile {
  const max = LIMITS.maxComponentCodeBytes;
  const bytes = text.length > max ? text.length : Buffer.byteLength(text);
  return { path, text: bytes > max ? null : text, bytes, isComponent: false };
}

function findExcess(
  name: 'maxImportFiles' | 'maxImportBytes' | 'maxImportComponents',
  used: number,
  what: string,
): { faults: FieldError[]; limit: ExceededLimit } | undefined {
  const value = LIMITS[name];
  if (used <= value) return undefined;
  const message = `There are ${used} ${what}; at most ${value} are imported at once`;
  return { faults: [{ path: 'files', message }], limit: { name, value, used } };
}

async function markComponents(files: readonly ImportFile[]): Promise<Omit<ComponentTree, 'files'>> {
  const giveWay = createGiveWay();
  let count = 0;
  for (const file of files) {
    await giveWay();
    // A file that is too large is reported: it fails with its size.
    file.isComponent = isCandidate(file.path) && (file.text === null || looksLikeComponent(file.text));
    if (file.isComponent) count++;
  }
  const message = 'No component is in a folder `sources` or `actions` of an app';
  if (count === 0) return { faults: [{ path: 'files', message }] };
  return findExcess('maxImportComponents', count, 'components') ?? { faults: [] };
}

/** Code in a folder `sources` or `actions`, neither named nor kept under `common…`. */
function isCandidate(name: string): boolean {
  const parts = name.split('/');
  const kindAt = parts.findLastIndex((part) => KINDS.has(part));
  if (kindAt < 0 || kindAt === parts.length - 1 || !CODE.test(name) || /\.app\.[cm]?[jt]s$/.test(name)) return false;
  return !parts.includes('node_modules') && !parts.slice(kindAt + 1).some((part) => part.startsWith('common'));
}

/**
 * Whether it has a default export, a name and a version. Told from the text: what only helps
 * components is not to count as one that failed. Strangers wrote it, so these patterns, and IMPORT,
 * take time with its length only: no two of their repetitions can share the same characters, and no
 * stretch that one start has gone over can be gone over from another.
 */
function looksLikeComponent(text: string): boolean {
  const isExported = /\bexport\s+default\b|\bas\s+default\b|\bmodule\.exports\s*=/.test(text);
  return isExported && ['name', 'version'].every((property) => hasProperty(text, property));
}

function hasProperty(text: string, property: string): boolean {
  return new RegExp(`(?:^|[{,\\s])["']?${property}["']?\\s*[:,}]`, 'm').test(text);
}

const IMPORT =
  /(\bfrom[ \t]*|\bimport[ \t]*(?:\([ \t]*)?|\brequire[ \t]*\([ \t]*)(["'])((?:@[\w.~-]+\/)?[\w.~-]+)((?:\/[\w./~-]+)?)\2/g;
const PINNABLE = /^[~^]?\d+(\.\d+)*([-+][\w.+-]+)?$/;
/** It is written at each import of the package, of which there can be a hundred thousand. */
const MAX_VERSION_CHARS = 100;

/** The text with `versions` in its imports of packages. */
export async function pinPackages(text: string, versions: ReadonlyMap<string, string>): Promise<string> {
  const giveWay = createGiveWay();
  let pinned = '';
  let end = 0;
  for (const { 0: whole, 1: before = '', 2: quote = '', 3: pack = '', 4: subpath = '', index } of text.matchAll(
    IMPORT,
  )) {
    await giveWay();
    const version = versions.get(pack) ?? '';
    if (!PINNABLE.test(version) || isBuiltin(pack)) continue;
    pinned += `${text.slice(end, index)}${before}${quote}${pack}@${version}${subpath}${quote}`;
    end = index + whole.length;
    // The rest would not make it smaller: the caller refuses it anyway.
    if (pinned.length > LIMITS.maxComponentCodeBytes) return pinned;
  }
  return pinned + text.slice(end);
}

/**
 * Version by package, from the nearest package.json that names the package. `manifests`: their
 * texts, the nearest first.
 */
export async function askedVersions(manifests: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const giveWay = createGiveWay();
  const asked = new Map<string, string>();
  for (const manifest of manifests.toReversed()) {
    await giveWay();
    for (const [pack, version] of dependenciesOf(manifest))
      if (typeof version === 'string') asked.set(pack, version.length > MAX_VERSION_CHARS ? '' : version);
  }
  return asked;
}

function dependenciesOf(text: string): [string, unknown][] {
  try {
    const manifest = JSON.parse(text) as { dependencies?: object; devDependencies?: object } | null;
    return [manifest?.devDependencies, manifest?.dependencies].flatMap((packages) => Object.entries(packages ?? {}));
  } catch {
    return []; // the folder above is asked, and in the end the newest version is taken
  }
}
