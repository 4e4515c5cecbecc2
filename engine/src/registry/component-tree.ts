import { isBuiltin } from 'node:module';
import path from 'node:path';
import { type FieldError, LIMITS } from '@headwater/shared';

/** Files of a folder of apps: `<app>/<app>.app.mjs`, `<app>/sources/<name>/<name>.mjs`, `<app>/actions/…`, `common/…`. */
export type ComponentTree = Readonly<Record<string, string>>;

const CODE = /(?<!\.d)\.(mjs|cjs|js|mts|cts|ts)$/;
const NEEDED = /\.(mjs|cjs|js|mts|cts|ts|json)$/;
const KINDS = new Set(['sources', 'actions']);
const MAX_PATH_CHARS = 512;

/** The files that code may import, and package.json; what a path is not to be is refused. */
export function readTree(given: Readonly<Record<string, string>>): { tree: ComponentTree; faults: FieldError[] } {
  // Without a prototype: a file may be called `__proto__.mjs`, and so may be a folder.
  const tree = Object.create(null) as Record<string, string>;
  const faults: FieldError[] = [];
  let bytes = 0;
  for (const [name, text] of Object.entries(given)) {
    if (!isPlainPath(name)) {
      faults.push({
        path: 'files',
        message: `${JSON.stringify(name.slice(0, 100))} is not a relative path of plain names`,
      });
    } else if (NEEDED.test(name)) {
      tree[name] = text;
      bytes += Buffer.byteLength(text);
    }
  }
  const count = Object.keys(tree).length;
  if (count > LIMITS.maxImportFiles)
    faults.push({
      path: 'files',
      message: `There are ${count} files of code; at most ${LIMITS.maxImportFiles} are imported`,
    });
  if (bytes > LIMITS.maxImportBytes)
    faults.push({
      path: 'files',
      message: `The files have ${bytes} bytes; at most ${LIMITS.maxImportBytes} are imported`,
    });
  return { tree, faults: faults.slice(0, 20) };
}

function isPlainPath(name: string): boolean {
  if (name.length > MAX_PATH_CHARS || !name.isWellFormed()) return false;
  return name.split('/').every((part) => /^[^\0\\/:]+$/.test(part) && part !== '.' && part !== '..');
}

/**
 * Paths of the components: code in a folder `sources` or `actions`, neither named nor kept under `common…`, that has a default
 * export, a name and a version. Told from the text: what only helps components is not to count as one that failed.
 */
export function findTreeComponents(tree: ComponentTree): string[] {
  return Object.keys(tree)
    .filter((name) => isCandidate(name) && looksLikeComponent(tree[name] ?? ''))
    .toSorted();
}

function isCandidate(name: string): boolean {
  const parts = name.split('/');
  const kindAt = parts.findLastIndex((part) => KINDS.has(part));
  if (kindAt < 0 || kindAt === parts.length - 1 || !CODE.test(name) || /\.app\.[cm]?[jt]s$/.test(name)) return false;
  return !parts.includes('node_modules') && !parts.slice(kindAt + 1).some((part) => part.startsWith('common'));
}

function looksLikeComponent(text: string): boolean {
  const isExported = /\bexport\s+default\b|\bas\s+default\b|\bmodule\.exports\s*=/.test(text);
  return isExported && ['name', 'version'].every((property) => hasProperty(text, property));
}

function hasProperty(text: string, property: string): boolean {
  return new RegExp(`(?:^|[{,\\s])["']?${property}["']?\\s*[:,}]`, 'm').test(text);
}

const IMPORT =
  /(\bfrom[ \t]*|\bimport[ \t]*\(?[ \t]*|\brequire[ \t]*\([ \t]*)(["'])((?:@[\w.~-]+\/)?[\w.~-]+)((?:\/[\w./~-]+)?)\2/g;
const PINNABLE = /^[~^]?\d+(\.\d+)*([-+][\w.+-]+)?$/;

/** The text with the versions in its imports of packages that the nearest package.json which names the package asks for. */
export function pinPackages(tree: ComponentTree, name: string): string {
  const text = tree[name] ?? '';
  return text.replaceAll(IMPORT, (whole: string, before: string, quote: string, pack: string, subpath: string) => {
    if (isBuiltin(pack)) return whole;
    const version = askedVersion(tree, path.posix.dirname(name), pack);
    return version === undefined ? whole : `${before}${quote}${pack}@${version}${subpath}${quote}`;
  });
}

function askedVersion(tree: ComponentTree, folder: string, pack: string): string | undefined {
  for (let at = folder; ; at = path.posix.dirname(at)) {
    const asked = dependenciesOf(tree[at === '.' ? 'package.json' : `${at}/package.json`])[pack];
    if (typeof asked === 'string') return PINNABLE.test(asked) ? asked : undefined;
    if (at === '.') return undefined;
  }
}

function dependenciesOf(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {};
  try {
    const manifest = JSON.parse(text) as { dependencies?: object; devDependencies?: object } | null;
    return Object.assign(Object.create(null), manifest?.devDependencies, manifest?.dependencies) as Record<
      string,
      unknown
    >;
  } catch {
    return {}; // the folder above is asked, and in the end the newest version is taken
  }
}
