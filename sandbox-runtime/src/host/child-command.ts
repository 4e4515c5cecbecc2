import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Prefix } from './network-namespace.ts';

/** Heap of the process's own thread: it passes messages and keeps bundles; components live in isolates of their own. */
const OWN_HEAP_MB = 256;

export interface ChildCommand {
  program: string;
  args: string[];
}

/**
 * How a sandbox process is started: its script comes on standard input, and Node's permission model lets it read isolated-vm
 * and nothing else, write nothing, start no process and no worker. Addons are allowed for isolated-vm.
 */
export function childCommand(prefix: Prefix): ChildCommand {
  const isolatedVm = createRequire(import.meta.url).resolve('isolated-vm/package.json');
  const gypBuild = createRequire(isolatedVm).resolve('node-gyp-build/package.json');
  // The last one is how node-gyp-build tells musl from glibc.
  const readable = [join(dirname(isolatedVm), '*'), join(dirname(gypBuild), '*'), '/etc/alpine-release'];
  const args = [
    '--permission',
    '--allow-addons',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    '--no-node-snapshot',
    '--no-warnings',
    `--max-old-space-size=${OWN_HEAP_MB}`,
    '--title=hw-sandbox',
    '-',
  ];
  const [program = '', ...rest] = [...prefix, process.execPath, ...args];
  return { program, args: rest };
}
