import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GroupRoots, SYSTEM_ROOTS } from './control-groups.ts';

/**
 * Whether the kernel shares out processor time between sessions (autogroup). It does so among
 * processes of the root CPU group alone: in any other, as containers and units of systemd have,
 * sessions count for nothing. https://man7.org/linux/man-pages/man7/sched.7.html
 */
export function hasSessionShares(roots: GroupRoots = SYSTEM_ROOTS): boolean {
  try {
    return (
      readFileSync(join(roots.proc, 'sys/kernel/sched_autogroup_enabled'), 'utf8').trim() === '1' &&
      isInRootCpuGroup(roots)
    );
  } catch {
    // A kernel that was built without them, or not Linux.
    return false;
  }
}

function isInRootCpuGroup({ proc, groups }: GroupRoots): boolean {
  const lines = readFileSync(join(proc, 'self/cgroup'), 'utf8').matchAll(/^\d+:([^:]*):(.*)$/gm);
  const paths = new Map(
    [...lines].flatMap(([, names = '', path = '']) => names.split(',').map((name) => [name, path])),
  );
  const ofV1 = paths.get('cpu');
  if (ofV1 !== undefined) return ofV1 === '/';
  // In a container this may not be mounted, so that groups above are hidden.
  if (!existsSync(join(groups, 'cgroup.controllers'))) return false;
  const names = (paths.get('') ?? '').split('/').filter((name) => name !== '');
  // The root has no weight, and a group without one is part of that above it.
  const ownAndAbove = [[], ...names.map((_, i) => names.slice(0, i + 1))];
  return !ownAndAbove.some((parts) => existsSync(join(groups, ...parts, 'cpu.weight')));
}
