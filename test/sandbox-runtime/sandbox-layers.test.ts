import { type Sandbox, type SandboxLayer, startSandbox } from '@headwater/sandbox-runtime';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { findHotCores, ownCores, parseCores } from '../../sandbox-runtime/src/confinement/cpu-cores.ts';
import { nodeArguments } from '../../sandbox-runtime/src/confinement/node-command.ts';
import { childProcesses } from '../support/child-processes.ts';
import { bundle, runIn, soon, withRun } from '../support/sandbox-kit.ts';

const started: Sandbox[] = [];
async function start(options: Parameters<typeof startSandbox>[0] = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ blankProcesses: 0, ...options });
  started.push(sandbox);
  return sandbox;
}
afterEach(async () => {
  await Promise.all(started.splice(0).map((sandbox) => sandbox.stop()));
});

const say = withRun(`this.$emit('fine')`);
const burn = withRun(`this.$emit('burns'); for (;;);`);
const isLinux = process.platform === 'linux';

function has(sandbox: Sandbox, layer: SandboxLayer['layer']): boolean {
  return sandbox.layers().some((known) => known.layer === layer && known.active);
}

/** One field of the status of every thread of a process. */
function ofThreads(pid: number, field: string): string[] {
  const statuses = readdirSync(`/proc/${pid}/task`).map((id) => readFileSync(`/proc/${pid}/task/${id}/status`, 'utf8'));
  return statuses.map((status) => new RegExp(`^${field}:[ \\t]*(.*?)[ \\t]*$`, 'm').exec(status)?.[1] ?? '');
}

test('every layer is named once, active or with the reason why not, and the log says so in one line', async () => {
  const lines: [level: string, message: string][] = [];
  const sandbox = await start({ log: (level, message) => lines.push([level, message]) });
  const layers = sandbox.layers();
  expect(new Set(layers.map(({ layer }) => layer)).size).toBe(layers.length);
  for (const { note } of layers) expect(note).not.toBe('');
  const missing = layers.filter(({ active }) => !active);
  const expected = missing.length === 0 ? ['info', /every layer/] : ['warn', /docs\/security\.md/];
  expect(lines).toEqual([[expected[0], expect.stringMatching(expected[1] ?? '')]]);
  for (const { layer, note } of missing) expect(lines[0]?.[1]).toContain(`${layer} (${note})`);
});

test('node may read and write nothing and start nothing', () => {
  const given = nodeArguments(['/somewhere/addon.node']);
  expect(given).toEqual(expect.arrayContaining(['--permission', '--no-node-snapshot']));
  expect(given.filter((argument) => argument.startsWith('--allow'))).toEqual(['--allow-addons']);
});

test.runIf(isLinux)('no thread of a process has a privilege or can gain one', async () => {
  const sandbox = await start();
  expect((await runIn(sandbox, say)).outcome.ok).toBe(true);
  const none = /^0+$/;
  for (const { pid } of childProcesses()) {
    for (const field of ['CapEff', 'CapPrm', 'CapInh', 'CapAmb'])
      for (const value of ofThreads(pid, field)) expect(value).toMatch(none);
    if (!has(sandbox, 'privileges')) continue;
    for (const value of ofThreads(pid, 'NoNewPrivs')) expect(value).toBe('1');
    // Without privileges, the bounding set stays as it was and has no effect.
    const bound = process.getuid?.() === 0 ? none : /./;
    for (const value of ofThreads(pid, 'CapBnd')) expect(value).toMatch(bound);
  }
});

test.runIf(isLinux)('the system calls of every thread of a process are filtered, twice', async () => {
  const sandbox = await start();
  expect(has(sandbox, 'syscalls')).toBe(true);
  expect((await runIn(sandbox, say)).outcome.ok).toBe(true);
  for (const { pid } of childProcesses()) {
    for (const mode of ofThreads(pid, 'Seccomp')) expect(mode).toBe('2');
    // The starter's filter, which refuses io_uring to all, and the process's own; a container may
    // add another.
    for (const count of ofThreads(pid, 'Seccomp_filters')) expect(Number(count)).toBeGreaterThanOrEqual(2);
  }
});

test.runIf(isLinux && process.getuid?.() === 0)(
  'as root, each process is a user of its own without groups',
  async () => {
    const sandbox = await start({ blankProcesses: 2 });
    expect(has(sandbox, 'user')).toBe(true);
    // A process is there before the programs that confine it have done their part.
    const firstUser = (pid: number): number => Number(ofThreads(pid, 'Uid')[0]?.split('\t')[0]);
    await soon(() => childProcesses().filter(({ pid }) => firstUser(pid) > 60_000).length).toBe(2);
    const users = childProcesses().map(({ pid }) => {
      const all = new Set([...ofThreads(pid, 'Uid'), ...ofThreads(pid, 'Gid')].flatMap((ids) => ids.split('\t')));
      for (const groups of ofThreads(pid, 'Groups')) expect(groups).toBe('');
      expect(all.size).toBe(1);
      return Number([...all][0]);
    });
    expect(new Set(users).size).toBe(users.length);
  },
);

test.runIf(isLinux)(
  'the memory and files of a process are bounded, and the kernel ends it first when memory runs out',
  async () => {
    const sandbox = await start();
    expect((await runIn(sandbox, say)).outcome.ok).toBe(true);
    for (const { pid } of childProcesses()) {
      expect(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8').trim()).toBe('1000');
      if (!has(sandbox, 'files')) continue;
      const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
      expect(limits).toMatch(/^Max core file size +0 +0 /m);
      expect(limits).toMatch(/^Max file size +0 +0 /m);
      expect(limits).toMatch(/^Max open files +128 +128 /m);
      expect(limits).toMatch(has(sandbox, 'user') ? /^Max processes +1024 +1024 /m : /^Max processes/m);
    }
  },
);

/**
 * Niceness of the process's session if the kernel shares time between sessions, else of its first
 * thread.
 */
function nicenessOf(pid: number): number {
  const session = `/proc/${pid}/autogroup`;
  if (existsSync(session)) return Number(/nice (-?\d+)/.exec(readFileSync(session, 'utf8'))?.[1]);
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
}

test.runIf(isLinux)('a process that computes for long goes behind all others until it has calmed down', async () => {
  const sandbox = await start();
  const burning = runIn(sandbox, burn, { tenantId: 'o_hot', cpuMs: 3_000, wallMs: 20_000 });
  await soon(() => childProcesses().length).toBe(1);
  const pid = childProcesses()[0]!.pid;
  const niceness = (): number => nicenessOf(pid);
  expect(niceness()).toBeLessThan(5);
  await soon(niceness).toBe(10);
  const half = findHotCores();
  const keepsToHalf = (list: string): boolean => String(parseCores(list)) === String(half);
  if (half !== undefined) await soon(() => ofThreads(pid, 'Cpus_allowed_list').every(keepsToHalf)).toBe(true);
  expect((await burning).outcome).toMatchObject({ ok: false, fault: { code: 'CPU_LIMIT' } });
  // Without the privilege to give it its priority back, it is replaced.
  await soon(() => (statSync(`/proc/${pid}`, { throwIfNoEntry: false }) ? niceness() : 0)).toBeLessThan(10);
  const all = String(ownCores());
  const hasAll = (list: string): boolean => String(parseCores(list)) === all;
  await soon(() => childProcesses().every((child) => ofThreads(child.pid, 'Cpus_allowed_list').every(hasAll))).toBe(
    true,
  );
  expect((await runIn(sandbox, say, { tenantId: 'o_hot' })).host.data()).toEqual(['fine']);
});

test.runIf(isLinux && process.getuid?.() === 0)(
  'a new process of a tenant with long computation starts at low priority',
  async () => {
    const sandbox = await start();
    const burning = runIn(sandbox, burn, { tenantId: 'o_hot', cpuMs: 3_000, wallMs: 20_000 });
    await soon(() => childProcesses().length).toBe(1);
    const first = childProcesses()[0]!.pid;
    await soon(() => nicenessOf(first)).toBe(10);
    const wait = withRun(`await new Promise((r) => setTimeout(r, 1_500));`);
    const next = runIn(sandbox, wait, { tenantId: 'o_hot', alone: true });
    await soon(() => childProcesses().length).toBe(2);
    const second = childProcesses().find(({ pid }) => pid !== first)!.pid;
    await soon(() => nicenessOf(second)).toBe(5);
    const other = runIn(sandbox, wait, { tenantId: 'o_other' });
    await soon(() => childProcesses().length).toBe(3);
    const third = childProcesses().find(({ pid }) => pid !== first && pid !== second)!.pid;
    await soon(() => nicenessOf(third)).toBe(1);
    const ended = await Promise.all([burning, next, other]);
    expect(ended.map(({ outcome }) => outcome.ok)).toEqual([false, true, true]);
  },
);

test('tasks beyond the queue of their tenant are refused, and those of another are not', async () => {
  const sandbox = await start({ maxRunsPerProcess: 1, maxQueuedPerTenant: 2 });
  const wait = withRun(`await new Promise((r) => setTimeout(r, 400)); this.$emit('waited')`);
  const busy = Array.from({ length: 5 }, () => runIn(sandbox, wait, { tenantId: 'o_busy' }));
  const other = runIn(sandbox, say, { tenantId: 'o_other' });
  const ended = await Promise.all(busy);
  const outcomes = ended.map(({ outcome }) => (outcome.ok ? 'ok' : outcome.fault.code));
  expect(ended.flatMap(({ outcome }) => (outcome.ok ? [] : [outcome.fault]))).toContainEqual({
    code: 'UNAVAILABLE',
    message: 'Too many runs of this account wait for the sandbox: 3; the limit maxQueuedRunsPerTenant is 2',
    limit: { name: 'maxQueuedRunsPerTenant', value: 2, used: 3 },
  });
  expect(outcomes.filter((code) => code === 'UNAVAILABLE').length).toBeGreaterThanOrEqual(2);
  expect(outcomes.filter((code) => code === 'ok').length).toBeGreaterThanOrEqual(2);
  expect((await other).host.data()).toEqual(['fine']);
});

test('components to be loaded beyond that queue are refused with its limit, and those within are loaded', async () => {
  const sandbox = await start({ maxProcesses: 1, maxQueuedPerTenant: 1 });
  const running = runIn(sandbox, withRun(`await new Promise((r) => setTimeout(r, 1_500))`), { tenantId: 'o_busy' });
  const component = await bundle(say);
  await soon(() => sandbox.stats().runsInFlight).toBe(1);
  const loads = [1, 2, 3].map(() => sandbox.describe('o_busy', component));
  const [first, waiting, refused] = await Promise.allSettled(loads);
  for (const load of [first, waiting]) expect(load).toMatchObject({ status: 'fulfilled', value: { ok: true } });
  expect(refused).toMatchObject({
    status: 'rejected',
    reason: {
      code: 'RATE_LIMITED',
      message: 'Too many runs of this account wait for the sandbox: 2; the limit maxQueuedRunsPerTenant is 1',
      limit: { name: 'maxQueuedRunsPerTenant', value: 1, used: 2 },
      retryAfterSeconds: 1,
    },
  });
  expect((await running).outcome.ok).toBe(true);
});
