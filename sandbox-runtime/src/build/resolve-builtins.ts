import type { OnResolveArgs, OnResolveResult, Plugin } from 'esbuild';
import { BUILTIN_FUNCTION, BUILTIN_NAMES } from '../guest/builtin-names.ts';

const NAMESPACE = 'headwater-builtin';

/**
 * Resolves every import of a component: Node's modules that the guest offers, and nothing else. It answers for every path
 * and namespace, so that esbuild never looks into the file system.
 */
export function resolveBuiltins(): Plugin {
  return {
    name: 'headwater-builtins',
    setup(setup) {
      setup.onResolve({ filter: /.*/ }, resolve);
      setup.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({
        contents: `module.exports = ${BUILTIN_FUNCTION}(${JSON.stringify(path)});`,
        loader: 'js',
      }));
      setup.onLoad({ filter: /.*/, namespace: 'file' }, () => ({ errors: [{ text: 'Files cannot be imported' }] }));
    },
  };
}

function resolve({ path, kind }: OnResolveArgs): OnResolveResult | undefined {
  // The component itself, which is given as text.
  if (kind === 'entry-point') return undefined;
  const name = path.startsWith('node:') ? path.slice(5) : path;
  if ((BUILTIN_NAMES as readonly string[]).includes(name)) return { path: name, namespace: NAMESPACE };
  return { errors: [{ text: `Cannot resolve "${path}": ${reason(path)}` }] };
}

function reason(path: string): string {
  if (path.startsWith('node:')) return 'this module of Node is not available';
  if (path.startsWith('.') || path.startsWith('/')) return 'a component is one file and cannot import others';
  if (/^[a-z]+:\/\//i.test(path)) return 'imports from a URL are not available';
  return 'package imports are not available yet';
}
