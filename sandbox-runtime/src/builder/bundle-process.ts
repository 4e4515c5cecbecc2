import type { Plugin } from 'esbuild';
import { bundleOwnCode } from '../starter/bundle-own-code.ts';

/**
 * The script may read nothing, not even isolated-vm: it is told where the addon is, which may be an
 * open file.
 */
const ADDON =
  'const addon = { exports: {} }; process.dlopen(addon, process.argv[2]); module.exports = addon.exports.ivm;';

/**
 * Bundles what runs in every sandbox process into one script. A process then starts in half the
 * time, because it need not strip types, and can be denied the reading of everything.
 */
export function bundleProcess(): Promise<string> {
  return bundleOwnCode({
    name: 'process',
    main: new URL('../worker/process-main.ts', import.meta.url),
    madeOf: ADDON,
    // A function around it: the script is evaluated in the global scope, where names such as
    // `crypto` are taken.
    options: { format: 'iife', target: 'node24', platform: 'node', plugins: [isolatedVmFromArgument()] },
  });
}

function isolatedVmFromArgument(): Plugin {
  return {
    name: 'isolated-vm-from-argument',
    setup(setup) {
      setup.onResolve({ filter: /^isolated-vm$/ }, ({ path }) => ({ path, namespace: 'addon' }));
      setup.onLoad({ filter: /^isolated-vm$/, namespace: 'addon' }, () => ({ contents: ADDON, loader: 'js' }));
    },
  };
}
