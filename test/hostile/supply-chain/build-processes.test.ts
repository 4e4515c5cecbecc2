import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { buildCommand } from '../../../sandbox-runtime/src/builder/build-command.ts';
import {
  bundleAlone,
  bundleWithPackages,
  findMissingFiles,
} from '../../../sandbox-runtime/src/builder/build-component.ts';
import { failedBuild } from '../../../sandbox-runtime/src/builder/build-outcome.ts';
import { bundleScripts, findEsbuildPaths } from '../../../sandbox-runtime/src/builder/build-scripts.ts';
import type { BuildLimits } from '../../../sandbox-runtime/src/builder/packages/build-order.ts';
import { createTaskPool } from '../../../sandbox-runtime/src/builder/task-pool.ts';
import { findBuildConfinement } from '../../../sandbox-runtime/src/confinement/build-prefix.ts';
import { createStarter } from '../../../sandbox-runtime/src/starter/starter.ts';
import { findKoffi } from '../../../sandbox-runtime/src/syscall-filter/find-koffi.ts';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';
import { sampleCases } from '../../support/long-run.ts';

// builder: A build process that has been taken over and answers what no bundler and no fetcher
// answers.
describe('forged-answers', () => {
  const world = hostile();

  const limits = { bundleMs: 20_000, buildMs: 20_000, maxBundleMemoryMb: 1, maxMemoryMb: 1 } as BuildLimits;
  const component = { entry: 'component.mjs', files: { 'component.mjs': '' } };
  const packageBuild = { component, entryLoader: 'js' as const, packages: ['one'], registry: 'http://127.0.0.1/' };

  const ANSWERS: unknown[] = [
    null,
    1,
    'bundled',
    [],
    {},
    { kind: 'bundled' },
    { kind: 'bundled', sourceMap: { toString: 1 } },
    { kind: 'bundled', sourceMap: '\0' },
    { kind: 'needs-packages' },
    { kind: 'needs-packages', packages: [], entryLoader: 'js' },
    { kind: 'needs-packages', packages: [null], entryLoader: 'js' },
    { kind: 'needs-packages', packages: ['one'], entryLoader: 'exe' },
    { kind: 'needs-packages', packages: Array(1_001).fill('one'), entryLoader: 'js' },
    { kind: 'needs-packages', packages: ['o'.repeat(1_025)], entryLoader: 'js' },
    { kind: 'failed', errors: [] },
    { kind: 'failed', errors: Array.from({ length: 1_001 }, () => ({ path: 'component_code', message: 'one' })) },
    {
      kind: 'failed',
      errors: [{ path: 'component_code', message: 'one' }],
      limit: { name: 'memoryMb', value: 1, used: 2 },
    },
    { kind: 'failed', errors: [null] },
    { kind: 'failed', errors: [{ path: 'component_code', message: {} }] },
    { kind: 'failed', errors: [{ path: 'component_code', message: 'one', line: 'one' }] },
    { ok: false },
    { ok: false, errors: [{ path: 'component_code', message: 'one' }], isLost: 'lost' },
    { ok: false, errors: 'all' },
    { ok: true, sourceMap: '{}' },
    { ok: true, sourceMap: '{}', dependencies: { one: { version: 1 } } },
    { ok: true, sourceMap: '{}', dependencies: { one: '\0' } },
    { ok: true, sourceMap: 1, dependencies: {} },
    [null],
    [{ path: './one', importer: 'component.mjs' }],
    [{ path: './one', importer: 'component.mjs', candidates: Array(1_000).fill('one') }],
    Array.from({ length: 1_000 }, () => ({ path: './one', importer: 'component.mjs', candidates: [] })),
  ];

  /** Asked for a bundle, a process answers this; asked to fetch packages, that it has them. */
  const forger = (answer: unknown) => `
import { Socket } from 'node:net';
const channel = new Socket({ fd: 3 });
const frame = (text) => { const head = Buffer.alloc(8); head.writeUInt32BE(Buffer.byteLength(text)); return Buffer.concat([head, Buffer.from(text)]); };
let asked = Buffer.alloc(0);
channel.on('data', (piece) => {
  asked = Buffer.concat([asked, piece]);
  if (asked.length < 8 || asked.length < 8 + asked.readUInt32BE(0) + asked.readUInt32BE(4)) return;
  const { kind } = JSON.parse(asked.subarray(8, 8 + asked.readUInt32BE(0)).toString());
  channel.write(frame(kind === undefined ? '{"ok":true,"bytes":0}' : ${JSON.stringify(JSON.stringify(answer))}));
});`;

  it('is treated as broken for each kind of task', async () => {
    const starter = await createStarter();
    const { signal } = new AbortController();
    const logged: string[] = [];
    try {
      await world.unharmed(async () => {
        for (const answer of sampleCases(ANSWERS, 3)) {
          const start = async () => ({
            command: { program: process.execPath, args: ['--input-type=module', '-'] },
            script: forger(answer),
            environment: {},
            starter,
          });
          const pool = createTaskPool({ start, maxTasks: 1, signal });
          const processes = { plain: pool, trees: pool, fetching: pool, stop: () => pool.stop() };
          const log = (_level: string, _message: string, { stderr }: Record<string, unknown>) =>
            void logged.push(String(stderr));
          const context = { processes, limits, cacheDir: '', downloaded: () => undefined, log };
          const isList = Array.isArray(answer) && answer.length === 0;
          const [plain, tree, missing] = await Promise.all([
            bundleAlone(context, 'o_one', component),
            bundleWithPackages(context, 'o_one', packageBuild),
            findMissingFiles(context, 'o_one', component),
          ]);
          pool.stop();
          const what = JSON.stringify(answer).slice(0, 100);
          expect([what, plain]).toMatchObject([what, { kind: 'failed', errors: [{ path: 'component_code' }] }]);
          expect([what, tree]).toMatchObject([what, { ok: false, errors: [{ path: 'component_code' }] }]);
          expect([what, missing]).toEqual([what, []]);
          const said = logged.splice(0);
          expect([what, said.length]).toEqual([what, isList ? 2 : 3]);
          expect(new Set(said)).toEqual(new Set(['The process sent a malformed answer']));
        }
      });
    } finally {
      await starter.stop();
    }
  });

  it('is not taken for a bundle where it says that there is none', () => {
    const errors = [{ path: 'component_code', message: 'none' }];
    const answer = { kind: 'failed', errors, ok: true, bundle: { code: '', sourceMap: '{}', hash: 'of another' } };
    expect(failedBuild(answer)).toEqual({ ok: false, errors });
  });
});

// os: Native code in a build process that reads and writes the node's memory, signals it, and
// leaves a process behind.
describe('native-code-in-a-build-process', () => {
  const world = hostile();

  /** Not to be looked into, and not there. */
  const REFUSALS = ['EACCES', 'EPERM', 'ESRCH', 'ENOENT'];

  const isLinux = process.platform === 'linux';
  const LEFT_BEHIND = `left-behind-${process.pid}`;

  /**
   * Node's permission model binds JavaScript, but not the bundler's own program. So the attack runs
   * without it.
   */
  const attack = (nodePid: number) => `
const fs = require('node:fs');
const outcomes = {};
const attempt = (what, act) => { try { act(); outcomes[what] = 'done'; } catch (error) { outcomes[what] = error.code; } };
attempt('environ', () => fs.readFileSync('/proc/${nodePid}/environ'));
attempt('memory', () => fs.closeSync(fs.openSync('/proc/${nodePid}/mem', 'r+')));
attempt('file', () => fs.readlinkSync('/proc/${nodePid}/fd/0'));
attempt('signal', () => process.kill(${nodePid}, 0));
const child = require('node:child_process').spawn('sh', ['-c', 'sleep 100; : ${LEFT_BEHIND}'], { detached: true, stdio: 'ignore' });
child.once('spawn', () => new (require('node:net').Socket)({ fd: 3 }).write(JSON.stringify(outcomes)));`;

  const isLeft = () =>
    readdirSync('/proc').some((name) => {
      try {
        return (
          /^\d+$/.test(name) &&
          readFileSync(`/proc/${name}/cmdline`, 'utf8').startsWith(`sh\0-c\0sleep 100; : ${LEFT_BEHIND}`)
        );
      } catch {
        // It has ended meanwhile.
        return false;
      }
    });

  it.skipIf(!isLinux).each([false, true])(
    'reaches no process outside, with a network or without (%s)',
    async (network) => {
      const { prefix } = await findBuildConfinement({ network });
      const starter = await createStarter();
      try {
        const said = await world.unharmed(async () => {
          let heard = '';
          const [program, ...args] = [...prefix, process.execPath, '-'];
          const order = { program, args, environment: {}, files: [], sessionNice: 1, script: attack(world.server.pid) };
          const handle = starter.start(order, {
            started: (_pid, channel) => void channel.setEncoding('utf8').on('data', (text: string) => (heard += text)),
            ended: () => undefined,
          });
          await eventually(() => heard !== '' && isLeft());
          handle.kill();
          return heard;
        });
        // Without a process namespace on this system, nothing can be expected.
        const ownProcesses = prefix.includes('--pid');
        const reached = Object.values(JSON.parse(said) as Record<string, string>);
        expect(reached.filter((outcome) => ownProcesses && !REFUSALS.includes(outcome))).toEqual([]);
        await eventually(() => !ownProcesses || !isLeft());
      } finally {
        await starter.stop();
      }
    },
  );
});

// os: Native code in a build process that reads the command lines of everything that runs on the
// machine.
describe('processes-seen-from-a-build-process', () => {
  const world = hostile();

  const OTHER = `of-somebody-else-${process.pid}`;

  const ATTACK = `
const fs = require('node:fs');
const seen = fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).map((pid) => {
  try { return fs.readFileSync('/proc/' + pid + '/cmdline', 'utf8'); } catch (error) { return error.code; }
});
new (require('node:net').Socket)({ fd: 3 }).write(JSON.stringify(seen));`;

  /** Root or in a user namespace: most containers permit neither. */
  const mayMount = [[], ['--map-root-user']].some((options) => {
    const [program, ...args] = ['unshare', '--pid', '--fork', '--mount-proc', ...options, 'true'];
    return spawnSync(program, args).status === 0;
  });

  it.runIf(mayMount).each([false, true])('sees its own, with a network or without (%s)', async (network) => {
    const other = spawn('sh', ['-c', `sleep 100; : ${OTHER}`], { stdio: 'ignore', detached: true });
    onTestFinished(() => void process.kill(-(other.pid ?? 0), 'SIGKILL'));
    const { prefix } = await findBuildConfinement({ network });
    const starter = await createStarter();
    onTestFinished(() => starter.stop());
    const said = await world.unharmed(async () => {
      let heard = '';
      const [program, ...args] = [...prefix, process.execPath, '-'];
      const order = { program, args, environment: {}, files: [], sessionNice: 1, script: ATTACK };
      const handle = starter.start(order, {
        started: (_pid, channel) => void channel.setEncoding('utf8').on('data', (text: string) => (heard += text)),
        ended: () => undefined,
      });
      const seen = await eventually(() => heard !== '' && (JSON.parse(heard) as string[]));
      handle.kill();
      return seen;
    });
    expect(said.some((line) => line.includes(process.execPath))).toBe(true);
    expect(said.filter((line) => line.includes(OTHER))).toEqual([]);
  });
});

// builder: A program in the place of the bundler that connects to a socket by its path, where no
// network is needed.
describe('sockets-of-the-machine', () => {
  const world = hostile();
  const koffiPath = findKoffi();

  /** It is started by the bundling process as esbuild is, and knows no permission model. */
  const attack = (address: string) => `
const { spawn: startInstead } = await import('node:child_process');
const program = ${JSON.stringify(`
  const told = (outcome) => { process.stderr.write(outcome); process.exit(); };
  require('node:net').connect(${JSON.stringify(address)})
    .on('connect', () => told('connected')).on('error', (error) => told(error.code));
`)};
startInstead(process.execPath, ['--no-warnings', '-e', program], { stdio: ['ignore', 'ignore', 'inherit'] }).once('exit', () => process.exit());
`;

  it.runIf(koffiPath !== undefined)('is refused by the kernel', async () => {
    const folder = await mkdtemp('/tmp/hw-socket-');
    const address = path.join(folder, 's');
    const server = createServer((socket) => socket.destroy()).listen(address);
    await once(server, 'listening');
    const starter = await createStarter();
    onTestFinished(async () => {
      await starter.stop();
      server.close();
      await rm(folder, { recursive: true });
    });
    const { prefix } = await findBuildConfinement({ network: false });
    const { bundle } = await bundleScripts();
    const rights = { readable: findEsbuildPaths(), writable: [], mayStartPrograms: true, addon: koffiPath, prefix };
    const command = buildCommand({ ...rights, maxMemoryMb: 1_024, maxCpuS: 60, maxFileMb: 0 });
    const told = await world.unharmed(async () => {
      const { promise, resolve } = Promise.withResolvers<string>();
      const order = { ...command, environment: {}, files: [], sessionNice: 1, script: `${bundle}\n${attack(address)}` };
      starter.start(order, {
        started: (_pid, channel) => void channel.resume(),
        ended: ({ stderr }) => resolve(stderr),
      });
      return promise;
    });
    expect(told).toBe('ENOSYS');
  });
});
