import { statSync } from 'node:fs';
import { FIRST_FILE_FD } from '../starter/orders.ts';
import type { Prefix } from './command-prefix.ts';
import type { Findings } from './findings.ts';

/**
 * Heap of the process's own thread: it passes messages and keeps bundles; components live in
 * isolates of their own.
 */
const OWN_HEAP_MB = 256;
/**
 * Threads of a process: one for each isolate that computes, and a dozen of Node's own. A bound on
 * bombs, not on components.
 */
export const MAX_THREADS = 1_024;
/** Descriptors of Node's program and its first addon, for a process with a user of its own. */
export const NODE_FD = openFile(0);
export const ADDON_FD = openFile(1);

/** Command that starts a sandbox process. */
export interface NodeCommand {
  program: string;
  args: string[];
  /** The process has them open, from descriptor 4 on. */
  files: readonly string[];
}

/**
 * Arguments of Node for a sandbox process. Its script comes on standard input. Node's permission
 * model forbids reads, writes, processes and workers. Addons are allowed, because the script loads
 * isolated-vm, and koffi to filter its system calls, from `addonPaths`.
 */
export function nodeArguments(addonPaths: readonly string[]): string[] {
  return [
    '--permission',
    '--allow-addons',
    '--no-node-snapshot',
    '--no-warnings',
    `--max-old-space-size=${OWN_HEAP_MB}`,
    '--title=hw-sandbox',
    '-',
    ...addonPaths,
  ];
}

/**
 * A process with a user of its own gets Node's program and the addons as open files. That user may
 * have no access to their folders.
 */
export function nodeCommand(found: Findings, user: number | undefined, addons: readonly string[]): NodeCommand {
  const isOwnUser = user !== undefined;
  const node = isOwnUser ? NODE_FD : process.execPath;
  const paths = isOwnUser ? addons.map((_, i) => openFile(1 + i)) : addons;
  const [program = '', ...args] = [...prefixOf(found, user), node, ...nodeArguments(paths)];
  return { program, args, files: isOwnUser ? [process.execPath, ...addons] : [] };
}

export function prefixOf({ priority, network, limits, privileges }: Findings, user: number | undefined): Prefix {
  if (user === undefined) return [...priority, ...network, ...limits, ...privileges];
  const [setpriv = '', ...rest] = privileges;
  // Counted for each user, so it can only be set where a process has one to itself.
  const threads = limits.length === 0 ? [] : [...limits.slice(0, -1), `--nproc=${MAX_THREADS}:${MAX_THREADS}`, '--'];
  return [
    ...priority,
    ...network,
    ...threads,
    setpriv,
    `--reuid=${user}`,
    `--regid=${user}`,
    '--clear-groups',
    ...rest,
  ];
}

// The folders on the way do not matter to an open file, its own permissions do.
export function isForEverybody(path: string): boolean {
  return (statSync(path).mode & 0o004) !== 0;
}

function openFile(nth: number): string {
  return `/proc/self/fd/${FIRST_FILE_FD + nth}`;
}
