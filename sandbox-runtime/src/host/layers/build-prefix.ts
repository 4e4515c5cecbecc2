import { mkdir } from 'node:fs/promises';
import { findNetworkPrefix } from '../network-namespace.ts';
import { findWay, type Prefix, works } from './command-prefix.ts';
import { BUILD_NICE, behindOthers } from './cpu-priority.ts';

export interface BuildSurroundings {
  /** Whether it needs the network. */
  network: boolean;
  /** What it has to be able to read although it has no privileges. */
  readable?: readonly string[];
  /** Folders in which it has to be able to write as well; they are made. */
  writable?: readonly string[];
}

/** Its end, with that of whoever started it, even in the middle of a computation. */
const UNTIL_PARENT_ENDS = ['setpriv', '--pdeathsig', 'KILL', '--'];

/**
 * What begins in it sees and signals no process outside of it, and ends with it, whatever group or session it has gone to. The user namespace is for
 * a node that is not root's.
 */
const OWN_PROCESSES: readonly Prefix[] = [
  [...UNTIL_PARENT_ENDS, 'unshare', '--pid', '--fork', '--kill-child', '--'],
  [...UNTIL_PARENT_ENDS, 'unshare', '--pid', '--fork', '--kill-child', '--map-root-user', '--'],
];

/**
 * Root without capabilities is still the user who owns the cache, but reaches into no process that has some: with them, code that has broken out of the
 * bundler would write into the node's memory.
 */
const WITHOUT_PRIVILEGES: readonly Prefix[] = [
  ['setpriv', '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all', '--pdeathsig', 'KILL', '--'],
  ['setpriv', '--no-new-privs', '--pdeathsig', 'KILL', '--'],
];

/**
 * What a build process is put behind: less priority than the node, half of its processors, processes of its own, no privileges and no way to
 * new ones, an end together with the node, and no network where it needs none. It stays its parent's user, whose cache it reads.
 * Whatever does not work on this system is left out.
 */
export async function findBuildPrefix({ network, ...needs }: BuildSurroundings): Promise<Prefix> {
  const priority = await findWay([], behindOthers(BUILD_NICE));
  const connected = [...priority, ...(network ? [] : await findNetworkPrefix())];
  const outer = [...connected, ...(await findWay(connected, OWN_PROCESSES))];
  await Promise.all((needs.writable ?? []).map((folder) => mkdir(folder, { recursive: true, mode: 0o700 })));
  for (const way of WITHOUT_PRIVILEGES) if (await mayUse([...outer, ...way], needs)) return [...outer, ...way];
  return outer;
}

/** What keeps a bundler from what it needs not, by the names of docs/security.md, and how each is told in its prefix. */
const MARKS = { priority: 'nice', network: '--net', processes: '--pid', privileges: '--no-new-privs' };

/** Those that do not work on this system. */
export function missingBuildLayers(prefix: Prefix): string[] {
  return Object.entries(MARKS).flatMap(([layer, mark]) => (prefix.includes(mark) ? [] : [layer]));
}

/** Root may use what is others' by a capability alone, such as a data folder that belongs to another user. */
async function mayUse(
  prefix: Prefix,
  { readable = [], writable = [] }: Omit<BuildSurroundings, 'network'>,
): Promise<boolean> {
  const tests = [...readable, ...writable].flatMap((path) => ['-a', '-r', path]);
  return works([...prefix, 'test', '1', ...tests, ...writable.flatMap((path) => ['-a', '-w', path])]);
}
