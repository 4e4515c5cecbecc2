import type { OnResolveArgs, OnResolveResult, Plugin, PluginBuild } from 'esbuild';
import { builtinModules } from 'node:module';
import { BUILTIN_FUNCTION, BUILTIN_NAMES } from '../guest/builtin-names.ts';
import { type ComponentFiles, isOwnImport, isRelative, resolveOwn } from './component-files.ts';
import { loadOwnPackage, resolveOwnPackage } from './own-packages.ts';
import { FILE_FOUND } from './bundler-failures.ts';
import { parseSpecifier } from './specifier.ts';

const NAMESPACE = 'headwater-builtin';
/** Longest import string that an error shows, so that the reason after it fits. */
const MAX_NAMED_CHARS = 300;

/** Packages that the bundler meets while it resolves a component's imports. */
export interface FoundImports {
  /** Import strings, in the order they were met. */
  packages: Set<string>;
}

/**
 * Resolves every import of a component: Node's modules that the guest offers, the author's other
 * files, packages that come with the server, and nothing else. It answers for every path and
 * namespace, so that esbuild looks into the file system for imports by a pattern alone, see
 * bundler-failures.ts. Packages are noted in `found`.
 */
export function resolveWithoutPackages(component: ComponentFiles, found: FoundImports): Plugin {
  return {
    name: 'headwater-imports',
    setup(setup) {
      setup.onResolve({ filter: /.*/ }, (args) => {
        return (
          resolveOwn(component, args) ??
          resolveBuiltin(args.path) ??
          resolveOwnPackage(args.path) ??
          notePackage(args, found)
        );
      });
      loadBuiltin(setup);
      loadOwnPackage(setup);
      setup.onLoad({ filter: /.*/, namespace: 'file' }, () => ({ errors: [{ text: FILE_FOUND }] }));
    },
  };
}

/** Undefined for a module of Node that the guest does not offer, and for other names. */
export function resolveBuiltin(path: string): OnResolveResult | undefined {
  const name = path.startsWith('node:') ? path.slice(5) : path;
  const isOffered = (BUILTIN_NAMES as readonly string[]).includes(name);
  return isOffered ? { path: name, namespace: NAMESPACE } : undefined;
}

/**
 * A CommonJS module, so that its exports can be imported by name, as a whole and as the default,
 * and required.
 */
export function loadBuiltin(setup: PluginBuild): void {
  setup.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({
    contents: `module.exports = ${BUILTIN_FUNCTION}(${JSON.stringify(path)});`,
    loader: 'js',
  }));
}

/**
 * Whether a source of a map is a package's, or a module that was written here, and not the
 * author's.
 */
export function isForeign(source: string): boolean {
  return source.startsWith('headwater-') || source === '<runtime>';
}

function notePackage(args: OnResolveArgs, found: FoundImports): OnResolveResult {
  const { path } = args;
  if (path.startsWith('node:') || builtinModules.includes(path))
    return refuse(path, 'this module of Node is not available');
  if (isRelative(path)) return refuse(path, 'there is no such file beside the component');
  const parsed = parseSpecifier(path);
  if (!parsed.ok) return refuse(path, parsed.reason);
  if (isOwnImport(args)) found.packages.add(path);
  return { path, external: true };
}

function refuse(path: string, reason: string): OnResolveResult {
  return { errors: [{ text: `Cannot resolve "${path.slice(0, MAX_NAMED_CHARS)}": ${reason}` }] };
}
