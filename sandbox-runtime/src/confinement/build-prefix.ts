import { mkdir } from 'node:fs/promises';
import { networkWays } from './network-namespace.ts';
import { findWays, hasNoCapabilities, type Prefix, works } from './command-prefix.ts';
import { BUILD_NICE, lowPriorityPrefixes } from './cpu-priority.ts';

export interface BuildSurroundings {
  /** Whether it needs the network. */
  network: boolean;
  /** Paths that it must read, although it has no privileges. */
  readable?: readonly string[];
  /** Folders in which it has to be able to write as well; they are made. */
  writable?: readonly string[];
}

/** Ends the process with its parent, even in the middle of a computation. */
const UNTIL_PARENT_ENDS = ['setpriv', '--pdeathsig', 'KILL', '--'];

/**
 * Process namespace: its processes cannot signal outside, and all end with it, in any group or
 * session. With its own /proc, it sees no other processes. The user namespace is for nodes that do
 * not run as root.
 */
const OWN_PROCESSES: readonly Prefix[] = [
  ['--mount-proc'],
  [],
  ['--mount-proc', '--map-root-user'],
  ['--map-root-user'],
].map((options) => [...UNTIL_PARENT_ENDS, 'unshare', '--pid', '--fork', '--kill-child', ...options, '--']);

/**
 * Root without capabilities still owns the cache, but cannot reach a process that has capabilities.
 * With them, code that breaks out of the bundler could write into the node's memory.
 */
const WITHOUT_PRIVILEGES: readonly Prefix[] = [
  ['setpriv', '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all', '--pdeathsig', 'KILL', '--'],
  ['setpriv', '--no-new-privs', '--pdeathsig', 'KILL', '--'],
];

/**
 * One confinement layer of a build process. `note`: its effect or, if it is not active, the reason.
 * docs/security.md lists the costs.
 */
export interface BuildLayer {
  layer: 'priority' | 'network' | 'processes' | 'privileges';
  active: boolean;
  note: string;
}

export interface BuildConfinement {
  prefix: Prefix;
  layers: readonly BuildLayer[];
}

/** Parts of the prefix; an empty part is not available on this system. */
export interface BuildPrefixes {
  priority: Prefix;
  network: Prefix;
  processes: Prefix;
  privileges: Prefix;
}

/**
 * Confines build processes: lower priority than the node, half of the processors, and a process
 * namespace. They have no privileges, cannot gain any, and end with the node. They have no network
 * unless they need it. They keep the user of the node, because they read its cache. Unavailable
 * measures are left out.
 */
export async function findBuildConfinement({ network, ...needs }: BuildSurroundings): Promise<BuildConfinement> {
  const [priority = [], ownNetwork = [], processes = []] = await findWays([
    lowPriorityPrefixes(BUILD_NICE),
    network ? [] : networkWays(),
    OWN_PROCESSES,
  ]);
  const outer = [...priority, ...ownNetwork, ...processes];
  await Promise.all((needs.writable ?? []).map((folder) => mkdir(folder, { recursive: true, mode: 0o700 })));
  const privileges = await findUsable(outer, needs);
  const prefix = [...outer, ...privileges];
  const isUnprivileged = privileges.length > 0 && (await hasNoCapabilities(prefix));
  return {
    prefix,
    layers: describeBuildLayers({ priority, network: ownNetwork, processes, privileges }, isUnprivileged),
  };
}

export function describeBuildLayers(found: BuildPrefixes, isUnprivileged: boolean): BuildLayer[] {
  const { priority, network, processes, privileges } = found;
  const layer = (name: BuildLayer['layer'], active: boolean, does: string, missing: string): BuildLayer => ({
    layer: name,
    active,
    note: active ? does : missing,
  });
  const half = priority.includes('taskset') ? ', and on half of the processors' : '';
  const seen = processes.includes('--mount-proc') ? 'sees and' : "sees others' names, but";
  const whyPrivileged = 'root keeps its capabilities: it has no CAP_SETPCAP, or needs them for files of another user';
  const whyNoNamespace = 'unshare is missing or not permitted';
  return [
    layer('network', network.length > 0, 'no network', whyNoNamespace),
    layer('processes', processes.length > 0, `${seen} signals no process but its own`, whyNoNamespace),
    layer(
      'privileges',
      isUnprivileged,
      'no privileges, and none to be gained',
      privileges.length === 0 ? 'setpriv is missing' : whyPrivileged,
    ),
    layer('priority', priority.length > 0, `behind this node and its database${half}`, 'nice is missing'),
  ];
}

async function findUsable(outer: Prefix, needs: Omit<BuildSurroundings, 'network'>): Promise<Prefix> {
  for (const way of WITHOUT_PRIVILEGES) if (await mayUse([...outer, ...way], needs)) return way;
  return [];
}

/** Root may need a capability to use the paths, such as a data folder of another user. */
async function mayUse(
  prefix: Prefix,
  { readable = [], writable = [] }: Omit<BuildSurroundings, 'network'>,
): Promise<boolean> {
  const tests = [...readable, ...writable].flatMap((path) => ['-a', '-r', path]);
  return works([...prefix, 'test', '1', ...tests, ...writable.flatMap((path) => ['-a', '-w', path])]);
}
