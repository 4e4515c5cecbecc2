import type { Plugin } from 'esbuild';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleOwnCode } from '../starter/bundle-own-code.ts';
import { readNodeFacts } from './node-facts.ts';

const GUEST_NODE = fileURLToPath(new URL('../guest/node/', import.meta.url));

/** Modules that the packages in the guest import, and what serves them there. */
const REPLACED: Readonly<Record<string, string>> = {
  'node:path': "export { posix as default } from './path.ts'",
  'node:querystring': "export * from 'unenv/node/querystring'",
  // Looked up when it is called: the snapshot that the packages are in is made before there is a
  // process object.
  'process/': `
    export const nextTick = (...args) => process.nextTick(...args);
    export const emitWarning = (...args) => process.emitWarning(...args);
    export const env = {};
    export const stdout = undefined;
    export const stderr = undefined;`,
  'abort-controller':
    "export { GuestAbortController as AbortController, GuestAbortSignal as AbortSignal } from '../abort.ts'",
};

/**
 * The inspector's own lists of keys make a string of every index: a large array or view would take
 * all memory.
 */
const INSPECTOR = /node-inspect-extracted[\\/]dist[\\/]inspect\.js$/;
const INSPECTOR_CHANGES: readonly (readonly [from: RegExp, to: string])[] = [
  [/getOwnNonIndexProperties:function\(.*?\},(?=getPromiseDetails:)/, 'getOwnNonIndexProperties:keys.listNamedKeys,'],
  [/(?<=function gr\(t,e,n,r,o,i\)\{)const l=mt\(e\);/, 'const l=keys.listShownKeys(e,i,r);'],
];
const INSPECTOR_START = "const keys=require('./array-keys.ts');";

/**
 * Functions keep their names by this. Most have them anyway: to define one anew makes each start of
 * an isolate longer by a tenth. The bundler asks it for each arrow function that has a name, and
 * not for methods: so what is made for each run has methods.
 */
const KEEP_NAME = 'var __name=(target,value)=>__defProp(target,"name",{value,configurable:!0});';
const KEEP_NAME_IF_LOST = KEEP_NAME.replace('=>', '=>target.name===value?target:');

/**
 * Bundles the code that runs in every isolate into one script. Takes some 150 ms, unless an earlier
 * start has kept it.
 */
export async function bundleGuest(): Promise<string> {
  const text = await bundleOwnCode({
    name: 'guest',
    main: new URL('../guest/boot.ts', import.meta.url),
    madeOf: [REPLACED, INSPECTOR_START, INSPECTOR_CHANGES.map(([from, to]) => [from.source, to])],
    options: {
      format: 'iife',
      target: 'es2024',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      // As in the type checker: functions of sloppy code reveal their caller and its arguments.
      tsconfigRaw: { compilerOptions: { alwaysStrict: true } },
      // Whitespace and syntax only: names stay readable in stack traces.
      minifyWhitespace: true,
      minifySyntax: true,
      // Packages tell classes by their names: one that another module has too is written with a
      // number behind it.
      keepNames: true,
      define: { HEADWATER_NODE_FACTS: JSON.stringify(readNodeFacts()) },
      plugins: [replaceNode(), changeInspector()],
    },
  });
  if (!text.includes(KEEP_NAME)) throw new Error('The bundler keeps names in another way than it did');
  return text.replace(KEEP_NAME, KEEP_NAME_IF_LOST);
}

function replaceNode(): Plugin {
  const namespace = 'headwater-replaced';
  return {
    name: 'headwater-replace-node',
    setup(setup) {
      setup.onResolve({ filter: /^(node:|process\/$|abort-controller$)/ }, ({ path }) =>
        Object.hasOwn(REPLACED, path) ? { path, namespace } : undefined,
      );
      setup.onLoad({ filter: /.*/, namespace }, ({ path }) => ({
        contents: REPLACED[path] ?? '',
        loader: 'ts',
        resolveDir: GUEST_NODE,
      }));
    },
  };
}

function changeInspector(): Plugin {
  return {
    name: 'headwater-change-inspector',
    setup(setup) {
      setup.onLoad({ filter: INSPECTOR }, async ({ path }) => {
        let text = await readFile(path, 'utf8');
        for (const [from, to] of INSPECTOR_CHANGES) {
          if (!from.test(text)) throw new Error(`The inspector has no ${from.source}: see what its new version has`);
          text = text.replace(from, to);
        }
        return { contents: INSPECTOR_START + text, loader: 'js', resolveDir: GUEST_NODE };
      });
    },
  };
}
