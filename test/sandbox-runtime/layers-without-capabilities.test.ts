import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ownCores, parseCores } from '../../sandbox-runtime/src/confinement/cpu-cores.ts';
import { hasSessionShares } from '../../sandbox-runtime/src/confinement/session-shares.ts';
import type { SandboxLayer } from '../../sandbox-runtime/src/sandbox-types.ts';

interface Found {
  sandbox: SandboxLayer[];
  build: { layer: string; active: boolean; note: string }[];
  processes: { cores: string; capabilities: string }[];
}

const resolve = (path: string) => JSON.stringify(import.meta.resolve(path));

/** A node that prints its findings, and the rights of its first sandbox process. */
const NODE = `
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createBuilder, startSandbox } from ${resolve('../../sandbox-runtime/src/index.ts')};
const cacheDir = mkdtempSync('/tmp/headwater-capabilities-');
const sandbox = await startSandbox({ blankProcesses: 1 });
const builder = createBuilder({ cacheDir });
const field = (status, name) => new RegExp('^' + name + ':\\\\s*(\\\\S+)', 'm').exec(status)?.[1];
const all = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).flatMap((pid) => {
  try {
    const words = readFileSync('/proc/' + pid + '/cmdline', 'utf8');
    const status = readFileSync('/proc/' + pid + '/status', 'utf8');
    return [{ pid, words, status, parent: Number(field(status, 'PPid')) }];
  } catch {
    return [];
  }
});
// The environment of another user's process cannot be read without a capability.
const starter = all.find(({ parent, words }) => parent === process.pid && words.includes('hw-starter'));
const processes = all
  .filter(({ parent, words }) => parent === Number(starter.pid) && words.includes('hw-sandbox'))
  .map(({ status }) => ({ cores: field(status, 'Cpus_allowed_list'), capabilities: field(status, 'CapPrm') }));
console.log(JSON.stringify({ sandbox: sandbox.layers(), build: await builder.findLayers(), processes }));
await sandbox.stop();
await builder.stop();
rmSync(cacheDir, { recursive: true });
`;

/** Root with these capabilities alone, and namespaces. */
function bounded(capabilities: readonly string[], command: readonly string[]): [program: string, args: string[]] {
  const bounds = ['sys_admin', ...capabilities].map((name) => `,+${name}`).join('');
  return ['setpriv', [`--bounding-set=-all${bounds}`, '--inh-caps=-all', ...command]];
}

const USERS = ['setuid', 'setgid', 'kill'];
const FILES = ['dac_override'];
const mayReduce =
  process.platform === 'linux' &&
  process.getuid?.() === 0 &&
  spawnSync(...bounded([...USERS, ...FILES, 'setpcap', 'sys_nice'], ['unshare', '--net', 'true'])).status === 0;

async function startWith(capabilities: readonly string[]) {
  const node = [process.execPath, '--no-warnings', '--input-type=module', '-e', NODE];
  const { stdout } = await promisify(execFile)(...bounded(capabilities, node), { timeout: 60_000 });
  const { sandbox, build, processes } = JSON.parse(stdout) as Found;
  const named = (layers: Found['build'], name: string) => layers.find(({ layer }) => layer === name);
  return {
    layer: (name: SandboxLayer['layer']) => named(sandbox, name),
    ofBuilds: (name: string) => named(build, name),
    cores: processes.map(({ cores }) => parseCores(cores)),
    capabilities: processes.map(({ capabilities: some }) => Number(`0x${some}`)),
  };
}

// Needs root with all capabilities, setpriv and namespaces: elsewhere there is nothing to take
// away.
test.runIf(mayReduce)(
  'with the capabilities that docs/security.md names, root has every layer that takes one',
  async () => {
    const found = await startWith([...USERS, ...FILES, 'setpcap', 'sys_nice']);
    for (const name of ['network', 'user', 'privileges', 'watch', 'priority'] as const)
      expect(found.layer(name)).toMatchObject({ active: true });
    for (const name of ['network', 'processes', 'privileges', 'priority'])
      expect(found.ofBuilds(name)).toMatchObject({ active: true });
    expect(found.capabilities).toEqual([0]);
  },
);

test.runIf(mayReduce)(
  'without capabilities over other users, the layers that need them are reported as missing',
  async () => {
    const found = await startWith(USERS);
    // A process that becomes another user keeps no capability.
    expect(found.layer('user')).toMatchObject({ active: true });
    expect(found.layer('privileges')).toMatchObject({ active: true });
    expect(found.capabilities).toEqual([0]);
    expect(found.layer('priority')).toMatchObject({ active: false, note: expect.stringContaining('CAP_SYS_NICE') });
    expect(found.layer('watch')).toMatchObject({ active: false, note: expect.stringContaining('CAP_DAC_OVERRIDE') });
    // The node could not restore the cores of these processes, so they keep all of them.
    expect(found.cores).toEqual([ownCores()]);
    expect(found.ofBuilds('privileges')).toMatchObject({ active: false, note: expect.stringContaining('CAP_SETPCAP') });
  },
);

test.runIf(mayReduce)('as in most containers, without CAP_SYS_NICE, processes keep all processors', async () => {
  const found = await startWith([...USERS, ...FILES, 'setpcap']);
  expect(found.cores).toEqual([ownCores()]);
  const byShares = { active: true, note: expect.stringContaining('but on all processors') };
  const byNothing = { active: false, note: expect.stringContaining('CAP_SYS_NICE') };
  expect(found.layer('priority')).toMatchObject(hasSessionShares() ? byShares : byNothing);
  expect(found.layer('watch')).toMatchObject({ active: true });
  expect(found.ofBuilds('privileges')).toMatchObject({ active: true });
});

test.runIf(mayReduce)(
  'root that neither becomes another user nor drops its capabilities is told that processes have them',
  async () => {
    const found = await startWith([]);
    expect(found.layer('user')).toMatchObject({ active: false });
    expect(found.layer('privileges')).toMatchObject({ active: false, note: expect.stringContaining('CAP_SETPCAP') });
    // Processes of its own user it may make less urgent, and keep to some processors.
    expect(found.layer('watch')).toMatchObject({ active: true });
    expect(found.capabilities).toEqual([expect.any(Number)]);
    expect(found.capabilities[0]).toBeGreaterThan(0);
  },
);
