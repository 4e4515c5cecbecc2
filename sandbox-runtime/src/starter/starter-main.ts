import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { findKoffi } from '../syscall-filter/find-koffi.ts';
import { refuseToChildren } from '../syscall-filter/install-filter.ts';
import { setSessionNice } from './session-nice.ts';
import { closeInheritedFiles } from './inherited-files.ts';
import { killGroup } from './kill-group.ts';
import { type FromStarter, MAX_STDERR_CHARS, type ToStarter } from './orders.ts';

type Start = Extract<ToStarter, { kind: 'start' }>;

/** Address where the node listens for the channels of processes. */
const [, , address = ''] = process.argv;
const COMMAND_MS = 5_000;
/** Time to read the last output of a process that ended. */
const READ_REST_MS = 1_000;
let lastCommand = Promise.resolve();
const scripts = new Map<number, string>();
const openFiles = new Map<string, number>();
const children = new Set<ChildProcess>();

function tell(message: FromStarter): void {
  // The node is gone: so is this process, in a moment.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

function start({ token, script, order }: Start): void {
  const channel = connect(address);
  // Not a byte of it is this process's to read.
  channel.pause();
  const fail = (error: Error): void =>
    tell({ kind: 'ended', token, code: null, signal: null, stderr: String(error).slice(0, MAX_STDERR_CHARS) });
  channel.once('error', fail);
  channel.once('connect', () => {
    channel.write(token, () => {
      channel.off('error', fail).on('error', () => undefined);
      try {
        begin(token, order, scripts.get(script) ?? '', channel);
      } catch (error) {
        fail(error as Error);
      }
      channel.destroy();
    });
  });
}

function begin(token: string, order: Start['order'], script: string, channel: Socket): void {
  const child = spawn(order.program, order.args, {
    detached: true,
    env: order.environment,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'pipe', channel, ...order.files.map(opened)],
  });
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(0, MAX_STDERR_CHARS);
    // Reading on without end would delay the start of other processes. The rest has no reader.
    if (stderr.length === MAX_STDERR_CHARS) child.stderr?.destroy();
  });
  const ended = (code: number | null, signal: string | null): void => {
    if (children.delete(child)) tell({ kind: 'ended', token, code, signal, stderr });
  };
  children.add(child);
  child.once('error', (error) => {
    stderr ||= String(error);
    ended(null, null);
  });
  // Its own child processes may outlive it.
  child.once('exit', () => {
    killAll(child, (error) => tell({ kind: 'not-killed', token, error: String(error) }));
    // A process that left the group may keep stderr open; `close` would then never fire.
    setTimeout(() => child.stderr?.destroy(), READ_REST_MS).unref();
  });
  child.once('close', ended);
  if (child.pid === undefined) return;
  setSessionNice(child.pid, order.sessionNice);
  tell({ kind: 'started', token, pid: child.pid });
  // A process that ends at once closes its input before it is written.
  child.stdin?.on('error', () => undefined).end(script);
}

function run(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, {
    env: {},
    cwd: '/',
    stdio: 'ignore',
    timeout: COMMAND_MS,
    killSignal: 'SIGKILL',
  });
  return new Promise((resolve) => {
    // A program that is not installed changes nothing.
    child.once('error', () => resolve()).once('exit', () => resolve());
  });
}

function opened(path: string): number {
  const known = openFiles.get(path);
  if (known !== undefined) return known;
  const file = openSync(path, 'r');
  openFiles.set(path, file);
  return file;
}

/** Without its node, the starter ends all processes and itself. */
function end(): void {
  for (const child of children) {
    // The node is gone, so the error goes to standard error.
    killAll(child, (error) =>
      process.stderr.write(`Process ${child.pid} could not be killed and lives on: ${error}\n`),
    );
  }
  // A node that was killed leaves the folder to this process.
  rmSync(dirname(address), { recursive: true, force: true });
  process.exit();
}

function killAll({ pid }: ChildProcess, refused: (error: Error) => void): void {
  const error = pid === undefined ? undefined : killGroup(pid);
  if (error !== undefined) refused(error);
}

function filterSyscalls(): void {
  const koffiPath = findKoffi();
  if (koffiPath === undefined) return;
  try {
    refuseToChildren(koffiPath);
  } catch {
    // The node finds out by itself that processes cannot filter their system calls.
  }
}

closeInheritedFiles();
filterSyscalls();
process.on('message', (message: ToStarter) => {
  if (message.kind === 'script') scripts.set(message.script, message.code);
  else if (message.kind === 'start') start(message);
  // One after the other, so that a change and its reversal keep their order.
  else lastCommand = lastCommand.then(() => run(message.program, message.args));
});
process.on('disconnect', end);
// The node decides when it ends, not a terminal or a supervisor that signals all of its processes.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
tell({ kind: 'ready' });
