import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { MAX_STDERR_CHARS, type StartOrder } from '../../sandbox-runtime/src/starter/orders.ts';
import {
  createStarter,
  NAMELESS,
  type ProcessEnd,
  type ProcessStarter,
} from '../../sandbox-runtime/src/starter/starter.ts';
import { findKoffi } from '../../sandbox-runtime/src/syscall-filter/find-koffi.ts';
import { type FilterArch, refusedSyscalls } from '../../sandbox-runtime/src/syscall-filter/syscalls.ts';
import { eventually } from '../support/eventually.ts';

const starters: ProcessStarter[] = [];
async function make(): Promise<ProcessStarter> {
  const starter = await createStarter();
  starters.push(starter);
  return starter;
}
afterEach(async () => {
  await Promise.all(starters.splice(0).map((starter) => starter.stop()));
});

const isLinux = process.platform === 'linux';
/** Beyond those that Node keeps from its children. */
const LEFT_OPEN_FD = 100;

interface Started {
  pid: Promise<number>;
  end: Promise<ProcessEnd>;
  /** Text that it has sent so far. */
  heard(): string;
  say(text: string): void;
  kill(): void;
}

function start(starter: ProcessStarter, script: string, order: Partial<StartOrder> = {}): Started {
  const pid = Promise.withResolvers<number>();
  const end = Promise.withResolvers<ProcessEnd>();
  let heard = '';
  let say: (text: string) => void = () => undefined;
  const handle = starter.start(
    { program: process.execPath, args: ['-'], environment: {}, files: [], sessionNice: 1, ...order, script },
    {
      started(id, channel) {
        channel.setEncoding('utf8').on('data', (text: string) => (heard += text));
        say = (text) => void channel.write(text);
        pid.resolve(id);
      },
      ended: end.resolve,
    },
  );
  return { pid: pid.promise, end: end.promise, heard: () => heard, say: (text) => say(text), kill: handle.kill };
}

const CHANNEL = `const channel = new (require('node:net').Socket)({ fd: 3 });\n`;

test('a process hears and answers on its channel, reads its script and its files, and has no other environment', async () => {
  const starter = await make();
  const script = `${CHANNEL}channel.once('data', (text) => channel.write(
    [text, require('node:fs').readFileSync(4, 'utf8').length > 0, JSON.stringify(process.env)].join(' ')));`;
  const one = start(starter, script, { files: [import.meta.filename], environment: { A: 'b' } });
  await one.pid;
  one.say('hello');
  await eventually(() => one.heard() === 'hello true {"A":"b"}');
  one.kill();
  expect(await one.end).toEqual({ code: null, signal: 'SIGKILL', stderr: '' });
});

test('a kept file is given to processes open, and goes with the starter', async () => {
  const starter = await make();
  const kept = await starter.keepFile('kept', Buffer.from('kept'));
  const script = `${CHANNEL}const bytes = Buffer.alloc(4);
    require('node:fs').readSync(4, bytes, 0, 4, 0);
    channel.write(bytes);`;
  // The same open file: what one has read is there for the next.
  for (const one of [start(starter, script, { files: [kept] }), start(starter, script, { files: [kept] })]) {
    await eventually(() => one.heard() === 'kept');
  }
  await starter.stop();
  expect(existsSync(kept)).toBe(false);
});

test('output that a process writes right before its end is read before the end is reported', async () => {
  const starter = await make();
  const script = `${CHANNEL}channel.write('x'.repeat(3_000_000), () => { console.error('bye'); process.exit(7); });`;
  const all = Array.from({ length: 5 }, () => start(starter, script));
  for (const one of all) {
    expect(await one.end).toEqual({ code: 7, signal: null, stderr: 'bye\n' });
    expect(one.heard().length).toBe(3_000_000);
  }
});

test('a program that is not there ends at once, and says so', async () => {
  const starter = await make();
  const end = await start(starter, '', { program: '/nowhere/at-all' }).end;
  expect(end).toMatchObject({ code: null, signal: null });
  expect(end.stderr).toContain('ENOENT');
});

test('a process can be killed before it has started, with its children', async () => {
  const starter = await make();
  const early = start(starter, 'setInterval(() => {}, 1_000)');
  early.kill();
  expect((await early.end).signal).toBe('SIGKILL');
  const parent = start(
    starter,
    `${CHANNEL}channel.write(String(require('node:child_process').spawn('sleep', ['60']).pid));`,
  );
  await eventually(() => parent.heard() !== '');
  parent.kill();
  await parent.end;
  await eventually(() => !isAlive(Number(parent.heard())));
});

test.runIf(isLinux)('a starter that dies takes its processes along, and the next one starts as before', async () => {
  const starter = await make();
  const first = start(starter, 'setInterval(() => {}, 1_000)');
  const pid = await first.pid;
  process.kill(parentOf(pid), 'SIGKILL');
  expect((await first.end).code).toBeNull();
  await eventually(() => !isAlive(pid));
  const next = start(starter, `${CHANNEL}channel.end('again');`);
  await next.end;
  expect(next.heard()).toBe('again');
});

test.runIf(isLinux)('stop ends all processes, the starter and its folder included', async () => {
  const starter = await createStarter();
  const left = start(starter, 'setInterval(() => {}, 1_000)');
  const pid = await left.pid;
  const parent = parentOf(pid);
  const folder = dirname(await starter.keepFile('kept', Buffer.from('kept')));
  expect(existsSync(folder)).toBe(true);
  await Promise.all([starter.stop(), starter.stop()]);
  await left.end;
  await eventually(() => !isAlive(pid) && !isAlive(parent));
  expect(existsSync(folder)).toBe(false);
});

function parentOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1]);
}

/** A zombie has ended. */
function isAlive(pid: number): boolean {
  if (!isLinux) return canBeSignalled(pid);
  if (!readdirSync('/proc').includes(String(pid))) return false;
  return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

function canBeSignalled(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const ENOSYS = 38;

test.runIf(isLinux)('system calls that no process needs are refused in all started processes', async () => {
  const koffiPath = findKoffi() ?? '';
  const refused = refusedSyscalls(process.arch as FilterArch);
  expect(refused.length).toBeGreaterThan(20);
  const script = `${CHANNEL}const koffi = { exports: {} };
    process.dlopen(koffi, ${JSON.stringify(koffiPath)});
    const { load, errno } = koffi.exports;
    const call = load(null).func('long syscall(long number, long a, long b, long c, long d)');
    const outcomes = ${JSON.stringify(refused)}.map((number) => call(number, 0, 0, 0, 0) === -1 ? errno() : 'done');
    channel.end(JSON.stringify([outcomes, call(${process.arch === 'x64' ? 110 : 173}, 0, 0, 0, 0) > 0]));`;
  const one = start(await make(), script);
  expect((await one.end).stderr).toBe('');
  expect(JSON.parse(one.heard())).toEqual([refused.map(() => ENOSYS), true]);
});

test.skipIf(!isLinux)('files that the parent of the node left open are given to no process', async () => {
  const file = openSync(import.meta.filename, 'r');
  const node = `
    import { createStarter } from ${JSON.stringify(import.meta.resolve('../../sandbox-runtime/src/starter/starter.ts'))};
    const starter = await createStarter();
    const script = "process.stderr.write(require('node:fs').readdirSync('/proc/self/fd').join(' '))";
    const order = { program: process.execPath, args: ['-'], environment: {}, files: [], sessionNice: 1, script };
    const ended = ({ stderr }) => { console.log(stderr); void starter.stop(); };
    starter.start(order, { started: (_pid, channel) => channel.resume(), ended });`;
  try {
    const kept = Array.from({ length: LEFT_OPEN_FD - 3 }, () => 'ignore' as const);
    const child = spawn(process.execPath, ['--input-type=module', '-e', node], {
      stdio: ['ignore', 'pipe', 'inherit', ...kept, file],
    });
    const [said] = (await once(child.stdout as Readable, 'data')) as [Buffer];
    await once(child, 'exit');
    const descriptors = String(said).trim().split(' ').map(Number);
    expect(descriptors).toContain(3);
    expect(descriptors).not.toContain(LEFT_OPEN_FD);
  } finally {
    closeSync(file);
  }
});

test('a process that writes errors without end is read no further than is kept', async () => {
  const starter = await make();
  const script = `${CHANNEL}const text = 'x'.repeat(65_536); let count = 0;
    process.stderr.on('error', () => undefined);
    const write = () => process.stderr.write(text, (error) => {
      if (error || (count += 1) === 1_000) channel.write(error ? 'closed' : 'read');
      else write();
    });
    write();`;
  const one = start(starter, script);
  await eventually(() => one.heard() !== '');
  expect(one.heard()).toBe('closed');
  one.kill();
  expect((await one.end).stderr).toBe('x'.repeat(MAX_STDERR_CHARS));
});

test.runIf(isLinux)(
  'a connection that does not name its channel is closed after seconds, and few may be open',
  async () => {
    const starter = await make();
    const first = start(starter, 'setInterval(() => {}, 1_000)');
    await first.pid;
    const address = join(dirname(await starter.keepFile('kept', Buffer.from('kept'))), 's');
    const closed: number[] = [];
    const startedAtMs = performance.now();
    const all = Array.from({ length: NAMELESS.maxConnections + 5 }, () => connect(address).resume());
    for (const socket of all) socket.on('error', () => undefined).once('close', () => closed.push(performance.now()));
    await eventually(() => closed.length === 5);
    // Others still get theirs.
    const next = start(starter, `${CHANNEL}channel.end('still');`);
    await next.end;
    expect(next.heard()).toBe('still');
    await eventually(() => closed.length === all.length, { timeoutMs: 2 * NAMELESS.maxMs });
    expect((closed.at(-1) ?? 0) - startedAtMs).toBeGreaterThan(NAMELESS.maxMs * 0.9);
    // A process that identified its channel keeps it as long as it lives.
    expect(isAlive(await first.pid)).toBe(true);
    first.kill();
  },
);
