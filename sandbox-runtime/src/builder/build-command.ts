import type { Prefix } from '../confinement/command-prefix.ts';

/** Permissions of a build process, besides messages to the node. */
export interface BuildRights {
  /** Patterns of paths, as for `--allow-fs-read`. */
  readable: readonly string[];
  writable: readonly string[];
  /**
   * For the bundler's own program. Node's permission model does not hold for that; the limits below
   * do.
   */
  mayStartPrograms: boolean;
  /** A native module that the script may load, its argument. */
  addon?: string | undefined;
  /** Command prefix that confines the process by means of the operating system. */
  prefix: Prefix;
  /** Private memory in MB of each process of the group. */
  maxMemoryMb: number;
  /** CPU time in seconds of each process of the group. */
  maxCpuS: number;
  /** The largest file that can be written; 0: none. */
  maxFileMb: number;
}

const HEAP_MB = 1_024;
const BLOCK_BYTES = 512;

/**
 * How a build process is started: its script comes on standard input. A shell sets the limits of
 * the operating system, which the programs that it starts inherit, and becomes the process; one
 * that a system does not know is passed over.
 */
export function buildCommand(rights: BuildRights): { program: string; args: string[] } {
  const limits: [string, number][] = [
    ['c', 0],
    ['d', rights.maxMemoryMb * 1024],
    ['t', rights.maxCpuS],
    ['f', (rights.maxFileMb * 1024 * 1024) / BLOCK_BYTES],
  ];
  const script = [...limits.map(([name, value]) => `ulimit -${name} ${value} 2>/dev/null || :`), 'exec "$@"'].join(
    '\n',
  );
  const node = [
    process.execPath,
    '--permission',
    ...(rights.mayStartPrograms ? ['--allow-child-process'] : []),
    ...(rights.addon === undefined ? [] : ['--allow-addons']),
    ...rights.readable.map((path) => `--allow-fs-read=${path}`),
    ...rights.writable.map((path) => `--allow-fs-write=${path}`),
    '--no-warnings',
    `--max-old-space-size=${HEAP_MB}`,
    '--title=hw-build',
    '--input-type=module',
    '-',
    ...(rights.addon === undefined ? [] : [rights.addon]),
  ];
  return { program: '/bin/sh', args: ['-c', script, 'sh', ...rights.prefix, ...node] };
}
