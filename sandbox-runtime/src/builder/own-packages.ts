import type { OnResolveResult, PluginBuild } from 'esbuild';

const NAMESPACE = 'headwater-own';
const NAME = /^@headwater\/types(@[^/]*)?$/;

/**
 * Run-time code of `@headwater/types` (types/src/index.js; a test compares them). It is text,
 * because processes that bundle untrusted code cannot read files.
 */
const TYPES = `
export const defineSource = (source) => source;
export const defineAction = (action) => action;
export const defineApp = (app) => app ?? defineApp;
export class ConfigurationError extends Error { name = 'ConfigurationError'; }
`;

/**
 * Resolves imports of packages that come with the server, in any version. A component then saves
 * without a registry, and a package of the same name in a registry cannot put code in its place.
 * Undefined for all other imports.
 */
export function resolveOwnPackage(path: string): OnResolveResult | undefined {
  return NAME.test(path) ? { path: '@headwater/types', namespace: NAMESPACE, sideEffects: false } : undefined;
}

export function loadOwnPackage(setup: PluginBuild): void {
  setup.onLoad({ filter: /.*/, namespace: NAMESPACE }, () => ({ contents: TYPES, loader: 'js' }));
}
