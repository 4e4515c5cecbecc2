import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A program and its first arguments, before which a command is put to run without a network. Empty: there is no way here. */
export type Prefix = readonly string[];

const PROBE_MS = 5_000;
const WAYS: readonly Prefix[] = [
  ['unshare', '--net', '--'],
  // Without root: a user namespace in which the network namespace may be made. Some systems forbid it.
  ['unshare', '--net', '--map-root-user', '--'],
];

/**
 * Finds out how a process can be started in a network namespace of its own, without even a loopback that is up. Whoever breaks
 * out of an isolate then still reaches nothing. Linux only, and not in every container.
 */
export async function findNetworkPrefix(): Promise<Prefix> {
  if (process.platform !== 'linux') return [];
  for (const way of WAYS) if (await works(way)) return way;
  return [];
}

async function works(way: Prefix): Promise<boolean> {
  const [program = '', ...args] = way;
  try {
    const probe = spawn(program, [...args, 'true'], { stdio: 'ignore', timeout: PROBE_MS });
    const [code] = (await once(probe, 'close')) as [number | null];
    return code === 0;
  } catch {
    // The program is not installed.
    return false;
  }
}
