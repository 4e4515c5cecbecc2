import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { mkdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

interface GroupLimits {
  memoryMb: number;
  /** Threads, which the kernel counts as processes. */
  threads: number;
}

type Controller = 'memory' | 'pids';

/** A folder of a control group file system in which this node may make groups. */
interface Place {
  folder: string;
  controllers: readonly Controller[];
  version: 1 | 2;
}

/** The groups of one process. */
export interface ProcessGroups {
  /** The kernel has killed the process because it had used up its memory. */
  ranOutOfMemory(): boolean;
  /** After the end of the process. */
  remove(): Promise<void>;
}

/** Makes a group for each sandbox process, with a bound on its memory and its threads. */
export interface ControlGroups {
  controllers: ReadonlySet<Controller>;
  /**
   * Rejects where the group cannot be made or the process cannot be put into it. The kernel takes
   * 10 ms for that, in which the node's thread does something else.
   */
  confine(pid: number, limits: GroupLimits): Promise<ProcessGroups>;
}

/** `/proc` and `/sys/fs/cgroup`, or a test's stand-ins. */
export interface GroupRoots {
  proc: string;
  groups: string;
}

export const SYSTEM_ROOTS: GroupRoots = { proc: '/proc', groups: '/sys/fs/cgroup' };
const NAME = /^headwater-\d+-\d+$/;

/**
 * Finds the folders where this node may create control groups. These are `given`, a folder from the
 * operator, or the top of a hierarchy if this node is there (in a container). Other folders belong
 * to the node's starter: systemd, for example, does not allow foreign groups among its own. Removes
 * groups that dead nodes left.
 */
export function findControlGroups(given: string | undefined, roots: GroupRoots = SYSTEM_ROOTS): ControlGroups {
  const places = (given === undefined ? ownPlaces(roots) : [placeAt(given)]).filter((place) => isUsable(place));
  for (const place of places) removeLeftOvers(place);
  return {
    controllers: new Set(places.flatMap(({ controllers }) => controllers)),
    confine: (pid, limits) => confine(places, pid, limits),
  };
}

function ownPlaces({ proc, groups }: GroupRoots): Place[] {
  const lines = readOr(join(proc, 'self/cgroup'), '').split('\n');
  return lines.flatMap((line): Place[] => {
    const [, names = '', path] = line.split(':');
    if (path !== '/') return [];
    if (names === '') return [placeAt(groups)];
    if (names !== 'memory' && names !== 'pids') return [];
    return [{ folder: join(groups, names), controllers: [names], version: 1 }];
  });
}

function placeAt(folder: string): Place {
  const listed = readOr(join(folder, 'cgroup.controllers'), undefined);
  if (listed === undefined) return { folder, controllers: controllersOfV1(folder), version: 1 };
  const words = listed.trim().split(/\s+/);
  return { folder, controllers: (['memory', 'pids'] as const).filter((name) => words.includes(name)), version: 2 };
}

function controllersOfV1(folder: string): Controller[] {
  if (existsSync(join(folder, 'memory.limit_in_bytes'))) return ['memory'];
  return existsSync(join(folder, 'pids.max')) ? ['pids'] : [];
}

/** Makes a group and removes it again: nothing else says whether it is allowed. */
function isUsable({ folder, controllers, version }: Place): boolean {
  if (controllers.length === 0) return false;
  try {
    if (version === 2) {
      const enabled = readFileSync(join(folder, 'cgroup.subtree_control'), 'utf8').trim().split(/\s+/);
      const missing = controllers.filter((name) => !enabled.includes(name)).map((name) => `+${name}`);
      // Refused by the kernel while processes are in the folder's own group, unless it is that of
      // the whole machine.
      if (missing.length > 0) writeFileSync(join(folder, 'cgroup.subtree_control'), missing.join(' '));
    }
    const probe = join(folder, nextName());
    mkdirSync(probe);
    rmdirSync(probe);
    return true;
  } catch {
    // Read-only, as in most containers, or not ours.
    return false;
  }
}

async function confine(places: readonly Place[], pid: number, limits: GroupLimits): Promise<ProcessGroups> {
  const made: string[] = [];
  const remove = async (): Promise<void> => {
    // The process may not be quite gone, or another node was faster. The next start removes the
    // rest.
    await Promise.allSettled(made.splice(0).map((group) => rmdir(group)));
  };
  try {
    for (const { folder, controllers, version } of places) {
      const group = join(folder, nextName());
      await mkdir(group);
      made.push(group);
      for (const controller of controllers) await bound(group, controller, version, limits);
      await writeFile(join(group, 'cgroup.procs'), String(pid));
    }
  } catch (error) {
    await remove();
    throw error;
  }
  return { ranOutOfMemory: () => made.some((group) => killedForMemory(group)), remove };
}

async function bound(
  group: string,
  controller: Controller,
  version: 1 | 2,
  { memoryMb, threads }: GroupLimits,
): Promise<void> {
  const write = (file: string, value: number): Promise<void> => writeFile(join(group, file), String(value));
  if (controller === 'pids') return write('pids.max', threads);
  const bytes = memoryMb * 2 ** 20;
  if (version === 1) return write('memory.limit_in_bytes', bytes);
  await write('memory.max', bytes);
  // Not there without swap accounting.
  if (existsSync(join(group, 'memory.swap.max'))) await write('memory.swap.max', 0);
}

function killedForMemory(group: string): boolean {
  const counts = readOr(join(group, 'memory.events'), undefined) ?? readOr(join(group, 'memory.oom_control'), '');
  return Number(/^oom_kill (\d+)$/m.exec(counts)?.[1] ?? 0) > 0;
}

function nextName(): string {
  return `headwater-${process.pid}-${randomInt(2 ** 32)}`;
}

// The kernel refuses to remove a group that has a process: those of nodes that live are safe.
function removeLeftOvers({ folder }: Place): void {
  for (const name of readdirSync(folder)) {
    if (!NAME.test(name)) continue;
    try {
      rmdirSync(join(folder, name));
    } catch {
      // Another node's, or another node was faster.
    }
  }
}

function readOr<T>(path: string, otherwise: T): string | T {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // A kernel without it.
    return otherwise;
  }
}
