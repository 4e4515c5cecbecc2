import { findNetworkPrefix } from '../network-namespace.ts';
import { findWay, type Prefix } from './command-prefix.ts';
import { BUILD_NICE, behindOthers } from './cpu-priority.ts';

/**
 * What a build process is put behind: less priority than the node, half of its processors, no way to new privileges, an end together with the node
 * even in the middle of a computation, and no network where it needs none. It stays its parent's user, whose cache it reads.
 * Whatever does not work on this system is left out.
 */
export async function findBuildPrefix({ network }: { network: boolean }): Promise<Prefix> {
  const priority = await findWay([], behindOthers(BUILD_NICE));
  const outer = [...priority, ...(network ? [] : await findNetworkPrefix())];
  return [...outer, ...(await findWay(outer, [['setpriv', '--no-new-privs', '--pdeathsig', 'KILL', '--']]))];
}
