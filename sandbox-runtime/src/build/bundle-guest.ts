import { build, type Plugin } from 'esbuild';
import { fileURLToPath } from 'node:url';
import { readNodeFacts } from './node-facts.ts';

/** Modules that the packages in the guest import, and what serves them there. */
const REPLACED: Readonly<Record<string, string>> = {
  'node:path': "export { posix as default } from './path.ts'",
  'node:querystring': "export * from 'unenv/node/querystring'",
  // Looked up when it is called: the snapshot that the packages are in is made before there is a process object.
  'process/': `
    export const nextTick = (...args) => process.nextTick(...args);
    export const emitWarning = (...args) => process.emitWarning(...args);
    export const env = {};
    export const stdout = undefined;
    export const stderr = undefined;`,
  'abort-controller':
    "export { GuestAbortController as AbortController, GuestAbortSignal as AbortSignal } from '../abort.ts'",
};

/** Bundles what runs inside every isolate into one script. Takes some 150 ms, once per node. */
export async function bundleGuest(): Promise<string> {
  const result = await build({
    entryPoints: [fileURLToPath(new URL('../guest/boot.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2024',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    legalComments: 'none',
    logLevel: 'silent',
    // Whitespace and syntax only: names stay readable in stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    define: { HEADWATER_NODE_FACTS: JSON.stringify(readNodeFacts()) },
    plugins: [replaceNode()],
  });
  const [output] = result.outputFiles;
  if (output === undefined) throw new Error('The guest bundle is empty');
  return output.text;
}

function replaceNode(): Plugin {
  const namespace = 'headwater-replaced';
  const resolveDir = fileURLToPath(new URL('../guest/node/', import.meta.url));
  return {
    name: 'headwater-replace-node',
    setup(setup) {
      setup.onResolve({ filter: /^(node:|process\/$|abort-controller$)/ }, ({ path }) =>
        Object.hasOwn(REPLACED, path) ? { path, namespace } : undefined,
      );
      setup.onLoad({ filter: /.*/, namespace }, ({ path }) => ({
        contents: REPLACED[path] ?? '',
        loader: 'ts',
        resolveDir,
      }));
    },
  };
}
