/**
 * Modules of Node that a component can import, with or without `node:`. The bundler resolves these names and the guest makes
 * them, so a new one is added here and in builtins.ts.
 */
export const BUILTIN_NAMES = ['buffer', 'crypto', 'events', 'process', 'querystring', 'timers', 'url', 'util'] as const;
export type BuiltinName = (typeof BUILTIN_NAMES)[number];

/** Name of the guest's global function that hands out a builtin module. It gives no more than an import does. */
export const BUILTIN_FUNCTION = '__headwaterBuiltin';

/** Export that the bundler puts at the end of every module: while it cannot be read, a top-level await is still pending. */
export const LOADED_EXPORT = '__headwaterLoaded';
