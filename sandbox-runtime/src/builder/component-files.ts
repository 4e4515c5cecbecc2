import type { Loader, OnResolveArgs, OnResolveResult, Plugin } from 'esbuild';

/** A component's own files: names with `/`, relative to one folder, and their text. */
export interface ComponentFiles {
  /** Name of the file whose default export is the component. */
  entry: string;
  files: Readonly<Record<string, string>>;
}

/** Namespace of the author's files. */
const COMPONENT_NAMESPACE = 'component';

/**
 * Longest path of a file, as on Linux. Each import yields more than a dozen candidates, and the
 * node reads them all.
 */
const MAX_NAME_CHARS = 4_096;
const EXTENSIONS = ['.mjs', '.js', '.ts', '.mts', '.cjs', '.json'];

/**
 * The names that `path`, imported by the file `importer`, may stand for, the likeliest first. None
 * when it leads out, or is longer than names are.
 */
export function candidatesOf(importer: string, path: string): string[] {
  const parts = importer.split('/').slice(0, -1);
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return [];
  }
  const exact = parts.join('/');
  if (exact.length > MAX_NAME_CHARS) return [];
  if (/\.(json|[cm]?[jt]s)$/.test(exact)) {
    // TypeScript names the output of the file it means.
    return exact.endsWith('.js') ? [exact, `${exact.slice(0, -3)}.ts`] : [exact];
  }
  return [exact, ...EXTENSIONS.map((ext) => exact + ext), ...EXTENSIONS.map((ext) => `${exact}/index${ext}`)];
}

export function isRelative(path: string): boolean {
  return /^\.\.?(\/|$)/.test(path);
}

/** Whether an import was written by the author, not in a package. */
export function isOwnImport(args: OnResolveArgs): boolean {
  return args.namespace === COMPONENT_NAMESPACE;
}

/**
 * Answers where the entry and the imports between the author's files lead; undefined for everything
 * else.
 */
export function resolveOwn({ entry, files }: ComponentFiles, args: OnResolveArgs): OnResolveResult | undefined {
  if (args.kind === 'entry-point') return { path: pathOf(entry, files[entry] ?? ''), namespace: COMPONENT_NAMESPACE };
  if (!isOwnImport(args) || !isRelative(args.path)) return undefined;
  const candidates = candidatesOf(ownName(args.importer), args.path);
  const found = candidates.find((name) => Object.hasOwn(files, name));
  return found === undefined ? undefined : { path: pathOf(found, files[found] ?? ''), namespace: COMPONENT_NAMESPACE };
}

/**
 * Loads the author's files from memory. `entryLoader` says how the entry is read; the others go by
 * their extension.
 */
export function loadOwn({ entry, files }: ComponentFiles, entryLoader: Loader): Plugin {
  return {
    name: 'headwater-component',
    setup(setup) {
      setup.onLoad({ filter: /.*/, namespace: COMPONENT_NAMESPACE }, ({ path }) => {
        const name = ownName(path);
        return { contents: closeMapComments(files[name] ?? ''), loader: name === entry ? entryLoader : loaderOf(name) };
      });
    },
  };
}

const FILE_MAP = /(?<=[#@] sourceMappingURL)=(?!data:application\/json;(?:charset=[\w-]+;)?base64,)/g;

/**
 * Disables source map comments with a path. The bundler would read that file of this machine, and
 * quote it in an error. Maps inside the code stay, and lead to the author's own lines.
 */
function closeMapComments(text: string): string {
  return text.replace(FILE_MAP, '-');
}

export function loaderOf(name: string): Loader {
  if (name.endsWith('.json')) return 'json';
  return /\.[cm]?ts$/.test(name) ? 'ts' : 'js';
}

// Spaces of its own line alone: across lines, a megabyte of empty ones would be searched from each
// of them.
const EXPORT = /^[ \t]*export\s*(default\b|const\b|let\b|var\b|function\b|class\b|async\b|\{|\*)/m;
const KIND = /!\.[a-z]+$/;

/**
 * The author's name of a file that the bundler calls `path`, with its namespace or without;
 * undefined for any other file.
 */
export function ownNameOf(source: string): string | undefined {
  return source.startsWith(`${COMPONENT_NAMESPACE}:`)
    ? ownName(source.slice(COMPONENT_NAMESPACE.length + 1))
    : undefined;
}

/** As `ownNameOf`, for a path that is known to be the author's. */
export function ownName(path: string): string {
  return path.replace(KIND, '');
}

/**
 * The bundler derives a file's kind from its extension, but the author's name does not tell: any
 * code arrives as `component.mjs`. ES modules get `.mjs`, so that a CommonJS package is their
 * default export as a whole, as in Node. The bundler decides for the rest.
 */
function pathOf(name: string, text: string): string {
  if (name.endsWith('.json')) return `${name}!.json`;
  const isModule = EXPORT.test(text) || !/\bexports\b/.test(text);
  return `${name}!${isModule ? '.mjs' : '.js'}`;
}
