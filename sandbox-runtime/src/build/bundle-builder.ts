import { build } from 'esbuild';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The script of a build process, and what it must be allowed to read besides its own folders. */
export interface BuilderScript {
  code: string;
  readable: string[];
}

/** Bundles what runs in every build process into one script. Takes some 50 ms, once per node. */
export async function bundleBuilder(): Promise<BuilderScript> {
  const require = createRequire(import.meta.url);
  const esbuild = require.resolve('esbuild');
  const result = await build({
    entryPoints: [fileURLToPath(new URL('./packages/build-main.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'node24',
    platform: 'node',
    legalComments: 'none',
    logLevel: 'silent',
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
  });
  const [output] = result.outputFiles;
  if (output === undefined) throw new Error('The bundle of the build process is empty');
  const esbuildDir = dirname(dirname(esbuild));
  // The binary is in a package beside it, or nested in it.
  return { code: output.text, readable: [join(esbuildDir, '*'), join(dirname(esbuildDir), '@esbuild', '*')] };
}
