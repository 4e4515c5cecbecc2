import { build } from 'esbuild';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What build processes run, each bundled into one script. */
export interface BuildScripts {
  bundle: string;
  fetch: string;
  /** What a process that bundles must be allowed to read. */
  esbuildPaths: string[];
}

/** Takes some 50 ms, once per node. */
export async function bundleScripts(): Promise<BuildScripts> {
  const esbuild = createRequire(import.meta.url).resolve('esbuild');
  const [bundle, fetch] = await Promise.all([
    bundleScript(new URL('./bundle-main.ts', import.meta.url), esbuild),
    bundleScript(new URL('./packages/fetch-main.ts', import.meta.url), esbuild),
  ]);
  const esbuildDir = dirname(dirname(esbuild));
  // The binary is in a package beside it, or nested in it.
  return { bundle, fetch, esbuildPaths: [join(esbuildDir, '*'), join(dirname(esbuildDir), '@esbuild', '*')] };
}

async function bundleScript(main: URL, esbuild: string): Promise<string> {
  const result = await build({
    entryPoints: [fileURLToPath(main)],
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
  if (output === undefined) throw new Error('The bundle of a build process is empty');
  return output.text;
}
