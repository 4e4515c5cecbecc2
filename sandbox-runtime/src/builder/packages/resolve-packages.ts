import type { Loader, OnLoadResult, OnResolveArgs, OnResolveResult, Plugin } from 'esbuild';
import { builtinModules } from 'node:module';
import { FILE_FOUND } from '../bundler-failures.ts';
import { type ComponentFiles, isOwnImport, isRelative, resolveOwn } from '../component-files.ts';
import { loadBuiltin, resolveBuiltin } from '../resolve-builtins.ts';
import { loadOwnPackage, resolveOwnPackage } from '../own-packages.ts';
import { parseSpecifier } from '../specifier.ts';
import { bindPatterns, type FoundPatterns } from './import-patterns.ts';
import { moduleFor } from './made-require.ts';
import type { PackageTree } from './resolve-tree.ts';
import { sloppyModule } from './sloppy-module.ts';
import type { FoundFile, ImportKind, UnpackedPackages } from './unpacked-packages.ts';

/** Files of packages. */
const PACKAGE_NAMESPACE = 'headwater-package';
/** Missing modules that a package imports. They throw when they are evaluated. */
const ABSENT_NAMESPACE = 'headwater-absent';
/** The module `module`, one for each file of a package that imports it. */
const MODULE_NAMESPACE = 'headwater-module';

/** Files of packages, as `packagePathOf` names them, that the bundler cannot take as they are. */
export interface Mending {
  /** No code for strict mode. */
  sloppy: ReadonlySet<string>;
  patterns: FoundPatterns;
  /** Whether the files are bundled that patterns may mean. */
  withFiles: boolean;
}

/**
 * Resolves and loads all imports of a component and its packages from memory. It answers every path
 * and namespace, so the bundler never reads the file system. `mending`: defects found in files
 * before.
 */
export function resolvePackages(
  component: ComponentFiles,
  tree: PackageTree,
  packages: UnpackedPackages,
  mending: Mending,
): Plugin {
  const files = new Map<string, FoundFile>();
  const toFile = (found: FoundFile): OnResolveResult => {
    const path = pathOf(found);
    files.set(path, found);
    return { path, namespace: PACKAGE_NAMESPACE, sideEffects: found.sideEffects };
  };
  return {
    name: 'headwater-packages',
    setup(setup) {
      setup.onResolve({ filter: /.*/ }, (args) => {
        const resolved =
          resolveOwn(component, args) ??
          resolveModule(args) ??
          resolveBuiltin(args.path) ??
          resolveOwnPackage(args.path);
        if (resolved !== undefined) return resolved;
        const found = isOwnImport(args) ? findRoot(args, tree, packages) : findWithin(args, packages);
        return 'id' in found ? toFile(found) : found;
      });
      loadBuiltin(setup);
      loadOwnPackage(setup);
      setup.onLoad({ filter: /.*/, namespace: MODULE_NAMESPACE }, ({ pluginData }) => ({
        contents: moduleFor(files.get(pluginData as string)?.contents.toString('utf8') ?? ''),
        loader: 'js',
      }));
      setup.onLoad({ filter: /.*/, namespace: ABSENT_NAMESPACE }, ({ path }) => absentModule(path));
      setup.onLoad({ filter: /.*/, namespace: PACKAGE_NAMESPACE }, ({ path }) =>
        loadFile(files.get(path), path, packages, mending),
      );
      setup.onLoad({ filter: /.*/, namespace: 'file' }, () => ({ errors: [{ text: FILE_FOUND }] }));
    },
  };
}

function resolveModule({ path, namespace, importer }: OnResolveArgs): OnResolveResult | undefined {
  const isOfPackage = namespace === PACKAGE_NAMESPACE && (path === 'module' || path === 'node:module');
  return isOfPackage
    ? { path: `${idOf(importer)}!.cjs`, namespace: MODULE_NAMESPACE, pluginData: importer }
    : undefined;
}

function findRoot(
  { path, kind }: OnResolveArgs,
  tree: PackageTree,
  packages: UnpackedPackages,
): FoundFile | OnResolveResult {
  const root = tree.roots[path];
  if (root === undefined) return { errors: [{ text: `Cannot resolve "${path}"` }] };
  if (!root.ok) return { errors: [{ text: `Cannot resolve "${path}": ${root.reason}` }] };
  // No package was unpacked: this pass only finds the imports that are wrong.
  if (Object.values(tree.roots).some(({ ok }) => !ok)) return { path, external: true };
  const parsed = parseSpecifier(path);
  const subpath = parsed.ok ? parsed.specifier.subpath : '';
  const found = packages.resolveName(root.from, root.name + subpath, kindOf(kind));
  if (found !== undefined) return found;
  const reason = `${root.name}@${root.version} has ${subpath === '' ? 'no file to import' : `no "${subpath.slice(1)}"`}`;
  return { errors: [{ text: `Cannot resolve "${path}": ${reason}` }] };
}

// As in Node, a package learns that something is missing when it asks for it: many ask in a `try`,
// or never.
function findWithin({ path, kind, importer }: OnResolveArgs, packages: UnpackedPackages): FoundFile | OnResolveResult {
  if (kind === 'require-resolve') return { path, external: true };
  const isModuleOfNode = path.startsWith('node:') || builtinModules.includes(path);
  const found = isModuleOfNode ? undefined : packages.resolveFrom(idOf(importer), path, kindOf(kind));
  if (found !== undefined) return found;
  const what = isModuleOfNode ? `The module ${path} is not available in the sandbox` : `Cannot find module '${path}'`;
  const where = isRelative(path) ? ` in ${nameOf(importer)}` : `, imported by ${nameOf(importer)}`;
  return { path: what + where, namespace: ABSENT_NAMESPACE };
}

function kindOf(kind: OnResolveArgs['kind']): ImportKind {
  return kind === 'require-call' ? 'require' : 'import';
}

/**
 * The name of a package's file in here, of the one that a message of the bundler is about;
 * undefined for other files.
 */
export function packagePathOf(file: string): string | undefined {
  return file.startsWith(`${PACKAGE_NAMESPACE}:`) ? file.slice(PACKAGE_NAMESPACE.length + 1) : undefined;
}

/**
 * The bundler derives from the extension whether a file is an ES module. JSON never is, whatever
 * the package declares for its code.
 */
function pathOf({ id, type }: FoundFile): string {
  if (/\.(?:[mc]js|json)$/.test(id)) return id;
  return `${id}!${type === undefined ? '.js' : type === 'module' ? '.mjs' : '.cjs'}`;
}

function idOf(path: string): string {
  return path.replace(/!\.[mc]?js$/, '');
}

function nameOf(path: string): string {
  const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
  return name ?? 'a package';
}

const LOADERS: Record<string, Loader> = {
  json: 'json',
  ts: 'ts',
  mts: 'ts',
  cts: 'ts',
  tsx: 'tsx',
  jsx: 'jsx',
  txt: 'text',
  css: 'empty',
};

function loadFile(
  file: FoundFile | undefined,
  path: string,
  packages: UnpackedPackages,
  { sloppy, patterns, withFiles }: Mending,
): OnLoadResult {
  if (file === undefined) return { errors: [{ text: 'There is no such file' }] };
  const extension = /\.(\w+)$/.exec(file.id)?.[1] ?? '';
  if (extension === 'node' || extension === 'wasm') {
    const what = extension === 'node' ? 'Native addons' : 'WebAssembly modules';
    return absentModule(`${what} are not available in the sandbox, and ${nameOf(file.id)} needs one`);
  }
  const contents = prepareText(file.contents);
  if (sloppy.has(path)) return { contents: sloppyModule(contents.toString('utf8')), loader: 'js' };
  const loader = LOADERS[extension] ?? 'js';
  const places = patterns.get(path);
  if (places === undefined) return { contents, loader };
  return {
    contents: bindPatterns(contents.toString('utf8'), places, { importer: file.id, packages, withFiles }),
    loader,
  };
}

const OWN_FOLDER = /\brequire\(\s*__dirname\s*\+\s*(['"])(\/[^'"\\\n]+)\1\s*\)/g;

function prepareText(contents: Buffer): Buffer | string {
  const hasMap = contents.includes(' sourceMappingURL=');
  if (!hasMap && !contents.includes('__dirname')) return contents;
  return (
    contents
      .toString('utf8')
      // A map inside a package would name files that look like the author's. A map beside it would
      // make the bundler read any file of this machine that the comment names.
      .replaceAll(' sourceMappingURL=', ' sourceMappingURL-')
      // A bundle has no folders, but a require relative to the file still works.
      .replace(OWN_FOLDER, 'require($1.$2$1)')
  );
}

function absentModule(message: string): OnLoadResult {
  const error = `Object.assign(new Error(${JSON.stringify(message)}), { code: 'MODULE_NOT_FOUND' })`;
  return { contents: `module.exports = undefined; throw ${error};`, loader: 'js' };
}
