/**
 * Modules of Node that a component can import, with or without `node:`. The bundler resolves these
 * names and the guest makes them, so a new one is added here and in builtins.ts.
 */
const AVAILABLE_NAMES = [
  'assert',
  'assert/strict',
  'async_hooks',
  'buffer',
  'cluster',
  'console',
  'constants',
  'crypto',
  'diagnostics_channel',
  'dns',
  'dns/promises',
  'events',
  'fs',
  'fs/promises',
  'http',
  'https',
  'module',
  'net',
  'os',
  'path',
  'path/posix',
  'path/win32',
  'perf_hooks',
  'process',
  'punycode',
  'querystring',
  'stream',
  'stream/consumers',
  'stream/promises',
  'stream/web',
  'string_decoder',
  'sys',
  'timers',
  'timers/promises',
  'tls',
  'tty',
  'url',
  'util',
  'util/types',
  'v8',
  'vm',
  'worker_threads',
  'zlib',
] as const;

/**
 * Can be imported, because packages import them for cases that never arise here. A call or
 * construction throws.
 */
export const UNAVAILABLE_NAMES = [
  'child_process',
  'dgram',
  'domain',
  'http2',
  'inspector',
  'readline',
  'readline/promises',
  'repl',
  'trace_events',
  'wasi',
] as const;

export const BUILTIN_NAMES = [...AVAILABLE_NAMES, ...UNAVAILABLE_NAMES] as const;
export type AvailableName = (typeof AVAILABLE_NAMES)[number];
export type UnavailableName = (typeof UNAVAILABLE_NAMES)[number];

/**
 * Name of the guest's global function that hands out a builtin module. It gives no more than an
 * import does.
 */
export const BUILTIN_FUNCTION = '__headwaterBuiltin';

/**
 * Export that the bundler puts at the end of every module: while it cannot be read, a top-level
 * await is still pending.
 */
export const LOADED_EXPORT = '__headwaterLoaded';
