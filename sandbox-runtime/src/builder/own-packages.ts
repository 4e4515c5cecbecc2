import type { OnResolveResult, PluginBuild } from 'esbuild';

const NAMESPACE = 'headwater-own';
const NAME = /^@headwater\/types(@[^/]*)?$/;

/**
 * What there is of `@headwater/types` at run time (types/src/index.js, a test compares them). Text,
 * because the processes that bundle strangers' code can read no files.
 */
const TYPES = `
export const defineSource = (source) => source;
export const defineAction = (action) => action;
export const defineApp = (app) => app ?? defineApp;
export class ConfigurationError extends Error { name = 'ConfigurationError'; }
`;

/**
 * Answers imports of packages that come with the server, whatever version they name: a component
 * saves where there is no registry, and nobody who takes the name in one can put code in its place.
 * Undefined for all others.
 */
export function resolveOwnPackage(path: string): OnResolveResult | undefined {
  return NAME.test(path) ? { path: '@headwater/types', namespace: NAMESPACE, sideEffects: false } : undefined;
}

export function loadOwnPackage(setup: PluginBuild): void {
  setup.onLoad({ filter: /.*/, namespace: NAMESPACE }, () => ({ contents: TYPES, loader: 'js' }));
}
