import type { BuildOptions } from 'esbuild';
import { LOADED_EXPORT } from '../guest/builtin-names.ts';

const MAX_ERRORS = 20;

/** Options of every bundle of a component, with or without packages. */
export const COMMON_OPTIONS = {
  bundle: true,
  write: false,
  outfile: '/component.js',
  format: 'esm',
  target: 'es2024',
  // Two modules may have a class of one name: the second would be called `Client2`, and code that
  // looks at names takes another way.
  keepNames: true,
  sourcemap: 'external',
  sourcesContent: false,
  legalComments: 'none',
  logLevel: 'silent',
  logLimit: MAX_ERRORS,
  footer: { js: `export const ${LOADED_EXPORT} = true;` },
  // No tsconfig.json is looked for.
  tsconfigRaw: '{}',
} as const satisfies BuildOptions;
