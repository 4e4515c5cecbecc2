/** Heap of the process's own thread: it passes messages and keeps bundles; components live in isolates of their own. */
const OWN_HEAP_MB = 256;

/**
 * How Node is started for a sandbox process: its script comes on standard input, and Node's permission model lets it read
 * nothing, write nothing, start no process and no worker. Addons are allowed for isolated-vm, which the script loads from
 * `addonPath`.
 */
export function nodeArguments(addonPath: string): string[] {
  return [
    '--permission',
    '--allow-addons',
    '--no-node-snapshot',
    '--no-warnings',
    `--max-old-space-size=${OWN_HEAP_MB}`,
    '--title=hw-sandbox',
    '-',
    addonPath,
  ];
}
