import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { bundleOwnCode } from '../starter/bundle-own-code.ts';

/** Scripts of build processes, each bundled into one text. */
export interface BuildScripts {
  bundle: string;
  fetch: string;
}

/**
 * Paths that a bundler process must read. The binary is in a package next to esbuild's, or nested
 * in it.
 */
export function findEsbuildPaths(): string[] {
  const esbuildDir = dirname(dirname(findEsbuild()));
  return [join(esbuildDir, '*'), join(dirname(esbuildDir), '@esbuild', '*')];
}

/** Takes some 50 ms, once per node, unless an earlier start has kept the scripts. */
export async function bundleScripts(): Promise<BuildScripts> {
  const esbuild = findEsbuild();
  const [bundle, fetch] = await Promise.all([
    bundleScript('build', new URL('./bundle-main.ts', import.meta.url), esbuild),
    bundleScript('fetch', new URL('./packages/fetch-main.ts', import.meta.url), esbuild),
  ]);
  return { bundle, fetch };
}

function findEsbuild(): string {
  return createRequire(import.meta.url).resolve('esbuild');
}

function bundleScript(name: string, main: URL, esbuild: string): Promise<string> {
  return bundleOwnCode({
    name,
    main,
    madeOf: esbuild,
    options: {
      format: 'esm',
      target: 'node24',
      platform: 'node',
      // semver is CommonJS and requires modules of Node.
      banner: {
        js: "import { createRequire as __createRequire } from 'node:module';const require = __createRequire('/');",
      },
      plugins: [
        {
          name: 'esbuild-by-path',
          setup: (setup) => setup.onResolve({ filter: /^esbuild$/ }, () => ({ path: esbuild, external: true })),
        },
      ],
    },
  });
}
