import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Heap of the process's own thread: it passes messages and keeps bundles; components live in isolates of their own. */
const OWN_HEAP_MB = 256;

/**
 * How a sandbox process is started: Node's permission model lets it read its own files and nothing else, write nothing,
 * start no process and no worker. Addons are allowed for isolated-vm.
 */
export function childCommand(): { command: string; args: string[] } {
  const require = createRequire(import.meta.url);
  const source = fileURLToPath(new URL('..', import.meta.url));
  const readable = [
    join(source, '*'),
    join(source, '..', 'package.json'),
    join(dirname(require.resolve('isolated-vm/package.json')), '*'),
    join(dirname(createRequire(require.resolve('isolated-vm/package.json')).resolve('node-gyp-build/package.json')), '*'),
    // How node-gyp-build tells musl from glibc.
    '/etc/alpine-release',
  ];
  const args = [
    '--permission',
    '--allow-addons',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    '--no-node-snapshot',
    '--no-warnings',
    `--max-old-space-size=${OWN_HEAP_MB}`,
    fileURLToPath(new URL('../process/process-main.ts', import.meta.url)),
  ];
  return { command: process.execPath, args };
}
