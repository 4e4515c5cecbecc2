import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { SandboxLayer } from '../../sandbox.ts';
import { findNetworkPrefix } from '../network-namespace.ts';
import { findWay } from './command-prefix.ts';
import { type ControlGroups, findControlGroups, type ProcessGroups } from './control-groups.ts';
import { behindOthers, USUAL_NICE } from './cpu-priority.ts';
import { describeLayers } from './describe-layers.ts';
import { findFilter } from './find-filter.ts';
import { findUsers } from './find-users.ts';
import type { ConfinementOptions, Findings } from './findings.ts';
import { MAX_THREADS, type NodeCommand, nodeCommand } from './node-command.ts';

/** Pipes and what Node waits with; components open nothing. */
const MAX_OPEN_FILES = 128;
/** Most likely to be taken by the kernel when the machine has no memory left: -1000 to 1000. */
const TAKE_FIRST = 1_000;
/** The kernel's bound is behind the one that this node watches: what it ends can be told from a crash in any case. */
const MEMORY_HEADROOM_MB = 256;
/** How one sandbox process is started, and what is to be done beside it. */
export interface Launch extends NodeCommand {
  /** To be called at once with its id; before it resolves, the process is not to be given anything of a tenant. */
  started(pid: number): Promise<void>;
  /** The kernel ended it because its memory was used up. */
  ranOutOfMemory(): boolean;
  /** To be called when it is gone. */
  ended(): void;
}

export interface Confinement {
  /** What of the operating system stands around each process, and what does not. */
  layers: readonly SandboxLayer[];
  launch(): Launch;
}

/** Finds out, once, what this system lets a process be confined with, by doing it. Takes some tenths of a second. */
export async function findConfinement(options: ConfinementOptions): Promise<Confinement> {
  const addonPath = findAddon();
  const findings = await probe(options, addonPath);
  return {
    layers: describeLayers(findings, options),
    launch: () => launch(findings, options, addonPath),
  };
}

async function probe(options: ConfinementOptions, addonPath: string): Promise<Findings> {
  const priority = await findWay([], behindOthers(USUAL_NICE));
  const network = await findNetworkPrefix();
  const outer = [...priority, ...network];
  const limits = await findWay(outer, [
    ['prlimit', '--core=0', '--fsize=0', `--nofile=${MAX_OPEN_FILES}:${MAX_OPEN_FILES}`, '--'],
  ]);
  const privileges = await findWay(
    [...outer, ...limits],
    [
      ['setpriv', '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all', '--pdeathsig', 'KILL', '--'],
      // Without a privilege there is none to be given up.
      ['setpriv', '--no-new-privs', '--pdeathsig', 'KILL', '--'],
    ],
  );
  const groups = findControlGroups(options.controlGroup);
  const found: Findings = {
    priority,
    network,
    limits,
    privileges,
    users: undefined,
    whyNoUsers: '',
    groups,
    koffiPath: undefined,
  };
  const users = await findUsers(found, addonPath);
  const withUsers = typeof users === 'string' ? { ...found, whyNoUsers: users } : { ...found, users };
  return { ...withUsers, koffiPath: await findFilter(withUsers, await options.starter) };
}

function launch(found: Findings, options: ConfinementOptions, addonPath: string): Launch {
  const user = found.users?.take();
  const addons = found.koffiPath === undefined ? [addonPath] : [addonPath, found.koffiPath];
  let confined = Promise.resolve<ProcessGroups | undefined>(undefined);
  let groups: ProcessGroups | undefined;
  return {
    ...nodeCommand(found, user, addons),
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
    // No /proc, or the process is gone already; the layer is reported by whether this works for the node itself.
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
