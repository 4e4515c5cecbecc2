import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { findControlGroups } from '../../sandbox-runtime/src/confinement/control-groups.ts';
import { SandboxProcess } from '../../sandbox-runtime/src/pool/sandbox-process.ts';
import type { Blame } from '../../sandbox-runtime/src/pool/run-client.ts';
import { pickGuestLimits } from '../../sandbox-runtime/src/bridge/guest-limits.ts';
import type { ProcessEnd } from '../../sandbox-runtime/src/starter/starter.ts';
import type { RunFault } from '../../sandbox-runtime/src/sandbox-types.ts';
import { accountLimits } from '../../shared/src/index.ts';
import { findUserIds } from '../../sandbox-runtime/src/confinement/user-ids.ts';
import { fakeProcess } from '../support/fake-process.ts';

const LIMITS = { memoryMb: 64, threads: 100 };
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A look-alike of the kernel's files, as this machine may have other ones or none. */
function files(content: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'headwater-groups-'));
  folders.push(root);
  for (const [name, text] of Object.entries(content)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

function madeIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith('headwater-'));
}

describe('with control groups of version 2', () => {
  const topOf = (controllers: string): Record<string, string> => ({
    'proc/self/cgroup': '0::/\n',
    'groups/cgroup.controllers': controllers,
    'groups/cgroup.subtree_control': '',
  });

  test('a process is bound in a group of its own at the top, where the node is itself', async () => {
    const root = files(topOf('cpu memory pids'));
    const found = findControlGroups(undefined, { proc: join(root, 'proc'), groups: join(root, 'groups') });
    expect([...found.controllers]).toEqual(['memory', 'pids']);
    expect(readFileSync(join(root, 'groups/cgroup.subtree_control'), 'utf8')).toBe('+memory +pids');
    await found.confine(4711, LIMITS);
    const [group = ''] = madeIn(join(root, 'groups'));
    const read = (name: string): string => readFileSync(join(root, 'groups', group, name), 'utf8');
    expect([read('memory.max'), read('pids.max'), read('cgroup.procs')]).toEqual([String(64 * 2 ** 20), '100', '4711']);
  });

  test('nothing is made in groups of others, unless the operator says that they are ours', () => {
    const root = files({ ...topOf('memory pids'), 'proc/self/cgroup': '0::/system.slice/headwater.service\n' });
    const roots = { proc: join(root, 'proc'), groups: join(root, 'groups') };
    expect(findControlGroups(undefined, roots).controllers.size).toBe(0);
    expect([...findControlGroups(join(root, 'groups'), roots).controllers]).toEqual(['memory', 'pids']);
    expect(findControlGroups(join(root, 'nowhere'), roots).controllers.size).toBe(0);
  });

  test('an end for want of memory can be told from another', async () => {
    const root = files(topOf('memory'));
    const found = findControlGroups(undefined, { proc: join(root, 'proc'), groups: join(root, 'groups') });
    const group = await found.confine(4711, LIMITS);
    const [name = ''] = madeIn(join(root, 'groups'));
    writeFileSync(join(root, 'groups', name, 'memory.events'), 'low 0\noom 1\noom_kill 0\noom_group_kill 0\n');
    expect(group.ranOutOfMemory()).toBe(false);
    writeFileSync(join(root, 'groups', name, 'memory.events'), 'low 0\noom 1\noom_kill 1\noom_group_kill 0\n');
    expect(group.ranOutOfMemory()).toBe(true);
  });
});

test('with control groups of version 1 each controller has a hierarchy, and those where the node is not at the top are left alone', async () => {
  const root = files({
    'proc/self/cgroup': '8:pids:/docker/abc\n4:memory:/\n3:cpu,cpuacct:/\n0::/\n',
    'groups/memory/memory.limit_in_bytes': '',
    'groups/pids/cgroup.procs': '',
  });
  const found = findControlGroups(undefined, { proc: join(root, 'proc'), groups: join(root, 'groups') });
  expect([...found.controllers]).toEqual(['memory']);
  const group = await found.confine(4711, LIMITS);
  const [name = ''] = madeIn(join(root, 'groups/memory'));
  const folder = join(root, 'groups/memory', name);
  expect(readFileSync(join(folder, 'memory.limit_in_bytes'), 'utf8')).toBe(String(64 * 2 ** 20));
  writeFileSync(join(folder, 'memory.oom_control'), 'oom_kill_disable 0\nunder_oom 0\noom_kill 2\n');
  expect(group.ranOutOfMemory()).toBe(true);
  expect(readdirSync(join(root, 'groups/pids'))).toEqual(['cgroup.procs']);
});

test('the run of a process that the kernel ended for want of memory is told the limit of the node', () => {
  let end: ((how: ProcessEnd) => void) | undefined;
  const process = new SandboxProcess({
    settings: { limits: pickGuestLimits(accountLimits()), maxIsolates: 1, maxWarmHeapMb: 64, spareMemoryMb: 32 },
    ...fakeProcess((_order, events) => {
      end = events.ended;
      return { kill: () => undefined };
    }, true),
    maxRssMb: 1_024,
    log: () => undefined,
    onFree: () => undefined,
    onExit: () => undefined,
  });
  process.ready.catch(() => undefined);
  const lost: [fault: RunFault, blame: Blame][] = [];
  const limits = { cpuMs: 1_000, wallMs: 5_000, wallLimit: 'httpRunWallMs' as const, memoryMb: 32 };
  process.start({ kind: 'describe', limits }, { code: '', hash: 'hash', sourceMap: '' }, limits.wallMs, {
    receive: () => false,
    lose: (...said) => void lost.push(said),
    settled: true,
  });
  end?.({ code: null, signal: 'SIGKILL', stderr: '' });
  const message = 'The sandbox process used 1 024 MB of memory; the limit HEADWATER_SANDBOX_MEMORY_MB is 1 024 MB';
  const limit = { name: 'sandboxMemoryMb', value: 1_024, used: 1_024 } as const;
  expect(lost).toEqual([[{ code: 'MEMORY_LIMIT', message, limit }, 'run']]);
});

const ofKernel = findControlGroups(undefined);
test.runIf(ofKernel.controllers.has('pids'))(
  'groups of the kernel hold a process, are removed after it, and left ones at the next start',
  async () => {
    const groupsOf = (pid: number): string[] => {
      const lines = readFileSync(`/proc/${pid}/cgroup`, 'utf8').split('\n');
      return lines.filter((line) => line.includes('/headwater-')).map((line) => line.split(':').at(-1) ?? '');
    };
    const all = (): string[] =>
      ['/sys/fs/cgroup', '/sys/fs/cgroup/pids', '/sys/fs/cgroup/memory']
        .filter((folder) => existsSync(folder))
        .flatMap((folder) => madeIn(folder).map((name) => `/${name}`));
    const child = spawn('sleep', ['60']);
    const group = await ofKernel.confine(child.pid!, LIMITS);
    const names = groupsOf(child.pid!);
    expect(names.length).toBeGreaterThan(0);
    // A node that starts meanwhile removes no group that is in use.
    findControlGroups(undefined);
    expect(all()).toEqual(expect.arrayContaining(names));
    child.kill('SIGKILL');
    await once(child, 'exit');
    // As if this node had been killed before it could do so.
    findControlGroups(undefined);
    for (const name of names) expect(all()).not.toContain(name);
    await group.remove();
  },
);

describe('users of processes', () => {
  const MACHINE = '         0          0 4294967295\n';

  test('are all different while they are in use', () => {
    const users = findUserIds(MACHINE, MACHINE)!;
    const taken = Array.from({ length: 1_000 }, () => users.take());
    expect(new Set(taken).size).toBe(1_000);
    expect(Math.min(...taken)).toBeGreaterThanOrEqual(1_900_000_000);
  });

  test('are those that exist in a container, and none where none of ours does', () => {
    const users = findUserIds('0 100000 65536\n', '0 100000 65536\n')!;
    const taken = Array.from({ length: 478 }, () => users.take());
    expect([Math.min(...taken), Math.max(...taken), new Set(taken).size]).toEqual([60_706, 61_183, 478]);
    expect(findUserIds(MACHINE, '0 1000 1\n')).toBeUndefined();
    expect(findUserIds('', '')).toBeUndefined();
  });
});
