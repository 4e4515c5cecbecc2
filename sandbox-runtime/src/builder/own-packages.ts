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
