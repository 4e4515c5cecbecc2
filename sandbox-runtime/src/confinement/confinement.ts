import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { SandboxLayer } from '../sandbox-types.ts';
import { networkWays } from './network-namespace.ts';
import { findWays, hasNoCapabilities } from './command-prefix.ts';
import { type ControlGroups, findControlGroups, type ProcessGroups } from './control-groups.ts';
import { lowPriorityPrefixes, onAllCores, USUAL_NICE } from './cpu-priority.ts';
import { describeLayers } from './describe-layers.ts';
import { findFilter } from './find-filter.ts';
import { findUsers } from './find-users.ts';
import type { ConfinementOptions, Findings } from './findings.ts';
import { MAX_THREADS, type NodeCommand, nodeCommand, prefixOf } from './node-command.ts';
import { findRights, NO_RIGHTS, type ProcessRights } from './process-rights.ts';

/** Pipes and what Node waits with; components open nothing. */
const MAX_OPEN_FILES = 128;
/** Most likely to be taken by the kernel when the machine has no memory left: -1000 to 1000. */
const TAKE_FIRST = 1_000;
/**
 * The kernel's memory limit is this much above the limit that the node enforces. So a kill by the
 * kernel is always distinguishable from a crash.
 */
const MEMORY_HEADROOM_MB = 256;
/** How to start one sandbox process, and the steps that go with it. */
export interface Launch extends NodeCommand {
  rights: ProcessRights;
  /**
   * To be called at once with its id; before it resolves, the process is not to be given anything
   * of a tenant.
   */
  started(pid: number): Promise<void>;
  /** The kernel ended it because its memory was used up. */
  ranOutOfMemory(): boolean;
  /** To be called when it is gone. */
  ended(): void;
}

export interface Confinement {
  /** Confinement layers, with those that are not available. */
  layers: readonly SandboxLayer[];
  launch(): Launch;
}

/**
 * Finds out, once, what this system lets a process be confined with, by doing it. Takes some tenths
 * of a second.
 */
export async function findConfinement(options: ConfinementOptions): Promise<Confinement> {
  const addonPath = findAddon();
  const findings = await probe(options, addonPath);
  return {
    layers: describeLayers(findings, options),
    launch: () => launch(findings, options, addonPath),
  };
}

async function probe(options: ConfinementOptions, addonPath: string): Promise<Findings> {
  const [priority = [], network = [], limits = [], privileges = []] = await findWays([
    lowPriorityPrefixes(USUAL_NICE),
    networkWays(),
    [['prlimit', '--core=0', '--fsize=0', `--nofile=${MAX_OPEN_FILES}:${MAX_OPEN_FILES}`, '--']],
    [
      ['setpriv', '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all', '--pdeathsig', 'KILL', '--'],
      // A process without privileges has none to drop.
      ['setpriv', '--no-new-privs', '--pdeathsig', 'KILL', '--'],
    ],
  ]);
  const found: Findings = {
    priority,
    network,
    limits,
    privileges,
    users: undefined,
    whyNoUsers: '',
    groups: findControlGroups(options.controlGroup),
    rights: NO_RIGHTS,
    isUnprivileged: false,
    koffiPath: undefined,
  };
  const controlled = await findControl(found, addonPath);
  return { ...controlled, koffiPath: await findFilter(controlled, await options.starter) };
}

/** Finds the users for sandbox processes, and the node's rights over these processes. */
async function findControl(found: Findings, addonPath: string): Promise<Findings> {
  const own = await findUsers(found, addonPath);
  const withUsers = typeof own === 'string' ? { ...found, whyNoUsers: own } : { ...found, users: own.users };
  const rights = typeof own === 'string' ? await findRights(prefixOf(found, undefined)) : own.rights;
  // Limits the cores only if the node can restore them.
  const priority = rights.cores ? found.priority : onAllCores(found.priority);
  const user = withUsers.users?.take();
  const isUnprivileged = found.privileges.length > 0 && (await hasNoCapabilities(prefixOf(withUsers, user)));
  if (user !== undefined) withUsers.users?.giveBack(user);
  return { ...withUsers, rights, priority, isUnprivileged };
}

function launch(found: Findings, options: ConfinementOptions, addonPath: string): Launch {
  const user = found.users?.take();
  const addons = found.koffiPath === undefined ? [addonPath] : [addonPath, found.koffiPath];
  let confined = Promise.resolve<ProcessGroups | undefined>(undefined);
  let groups: ProcessGroups | undefined;
  return {
    ...nodeCommand(found, user, addons),
    rights: found.rights,
    async started(pid) {
      takeFirst(pid);
      confined = confineGroup(found.groups, options, pid);
      groups = await confined;
    },
    ranOutOfMemory: () => groups?.ranOutOfMemory() ?? false,
    ended() {
      void confined.then((made) => made?.remove());
      if (user !== undefined) found.users?.giveBack(user);
    },
  };
}

function takeFirst(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(TAKE_FIRST));
  } catch {
    // No /proc, or the process is gone already; whether it is permitted was tried at the start.
  }
}

async function confineGroup(
  groups: ControlGroups,
  options: ConfinementOptions,
  pid: number,
): Promise<ProcessGroups | undefined> {
  if (groups.controllers.size === 0) return undefined;
  try {
    return await groups.confine(pid, { memoryMb: options.maxRssMb + MEMORY_HEADROOM_MB, threads: MAX_THREADS });
  } catch (error) {
    options.log('warn', 'A sandbox process could not be put into a control group', { pid, error: String(error) });
    return undefined;
  }
}

/** The file of isolated-vm that is made for this platform. */
function findAddon(): string {
  const isolatedVm = createRequire(import.meta.url).resolve('isolated-vm/package.json');
  const find = createRequire(isolatedVm)('node-gyp-build') as { path(folder: string): string };
  return find.path(dirname(isolatedVm));
}
