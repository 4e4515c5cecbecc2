import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { hasSessionShares } from '../../sandbox-runtime/src/confinement/session-shares.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** As the kernel has them on a machine of that kind. */
function sharesWith(files: Record<string, string>): boolean {
  const root = mkdtempSync(join(tmpdir(), 'headwater-shares-'));
  folders.push(root);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return hasSessionShares({ proc: join(root, 'proc'), groups: join(root, 'groups') });
}

const machine = {
  'proc/sys/kernel/sched_autogroup_enabled': '1\n',
  'proc/self/cgroup': '0::/\n',
  'groups/cgroup.controllers': 'cpu memory\n',
};
const unit = { ...machine, 'proc/self/cgroup': '0::/system.slice/headwater.service/node\n' };

test.each<[string, Record<string, string>, boolean]>([
  ['in the group of the whole machine', machine, true],
  ['where the kernel has them turned off', { ...machine, 'proc/sys/kernel/sched_autogroup_enabled': '0\n' }, false],
  ['where the kernel has none', { 'proc/self/cgroup': '0::/\n' }, false],
  ['in a container, which is at the top for itself', { ...machine, 'groups/cpu.weight': '100\n' }, false],
  ['in a group with a weight', { ...unit, 'groups/system.slice/headwater.service/node/cpu.weight': '100\n' }, false],
  ['in a group below one with a weight', { ...unit, 'groups/system.slice/cpu.weight': '100\n' }, false],
  ['where no group on the way has a weight', unit, true],
  [
    'where no groups can be seen',
    Object.fromEntries(Object.entries(machine).filter(([name]) => !name.startsWith('groups'))),
    false,
  ],
  ['at the top of version 1', { ...machine, 'proc/self/cgroup': '3:cpu,cpuacct:/\n2:pids:/docker/a\n0::/\n' }, true],
  ['in a group of version 1', { ...machine, 'proc/self/cgroup': '3:cpuacct,cpu:/docker/a\n0::/\n' }, false],
])('sessions share out the processors only in the root group: %s', (_where, files, expected) => {
  expect(sharesWith(files)).toBe(expected);
});
