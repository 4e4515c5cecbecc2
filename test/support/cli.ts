import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readEnvironment } from '../../cli/src/environment.ts';
import { runCli } from '../../cli/src/run-cli.ts';
import { eventually } from './eventually.ts';
import { endIdleConnections } from './idle-connections.ts';
import { rememberProcess } from './run-folder.ts';
import type { Json } from './json.ts';

const CLI = fileURLToPath(new URL('../../cli', import.meta.url));
const HW = path.join(CLI, 'bin/hw.js');

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunningCli {
  stdout(): string;
  stderr(): string;
  /**
   * Resolves with the first match in its output on either stream. Rejects if it ends without one.
   */
  untilOutput(pattern: RegExp, timeoutMs?: number): Promise<RegExpMatchArray>;
  exited: Promise<CliResult>;
  /** At its terminal. */
  type(keys: string): void;
  /** Default SIGINT, as Ctrl-C does. */
  end(signal?: NodeJS.Signals): Promise<CliResult>;
}

/**
 * A user at a shell: a home, a folder to work in, and `hw` as it is installed. Nothing of this
 * process's environment.
 *
 * A process costs a third of a second of processor time, more than most commands. So `hw` and
 * `json` call what that process calls, unless `ownProcess` is said, or the command sets something
 * for its whole process: a server, a proxy.
 */
export interface CliUser {
  home: string;
  configDir: string;
  workDir: string;
  env: Record<string, string>;
  start(args: readonly string[], options?: CliRun): RunningCli;
  /** Runs it to its end. */
  hw(args: readonly string[], options?: CliRun): Promise<CliResult>;
  /** The same with --json; throws if it fails. */
  json(...args: string[]): Promise<Json>;
  remove(): Promise<void>;
}

interface CliRun {
  env?: Record<string, string>;
  stdin?: string;
  /** Runs `hw` in a process of its own. Default: in this process if possible. */
  ownProcess?: boolean;
  /** At a terminal, which has everything that is written in `stdout`; see HAS_TERMINALS. */
  terminal?: boolean;
}

export const KEYS = {
  enter: '\r',
  down: '\u001B[B',
  space: ' ',
  backspace: '\u007F',
  interrupt: '\u0003',
  /** Ctrl-D. */
  endOfInput: '\u0004',
} as const;

/**
 * Terminals are made by a program that Linux distributions and macOS bring along, each in its own
 * way.
 */
export const HAS_TERMINALS = existsSync('/usr/bin/script');

/** All users share Node's compile cache, so that not every user starts `hw` cold. */
function compileCache(): Record<string, string> {
  const folder = process.env['NODE_COMPILE_CACHE'];
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}

/** `ownProcess`: all of its commands are in processes of their own. */
export async function createCliUser(env: Record<string, string> = {}, { ownProcess = false } = {}): Promise<CliUser> {
  const home = await mkdtemp(path.join(tmpdir(), 'headwater-cli-'));
  const user: CliUser = {
    home,
    configDir: path.join(home, '.config', 'headwater'),
    workDir: home,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, ...compileCache(), ...env },
    start: (args, options = {}) =>
      startCli(args, { ...options, cwd: user.workDir, env: { ...user.env, ...options.env } }),
    hw(args, options = {}) {
      const all = { ...user.env, ...options.env };
      if (options.ownProcess ?? (ownProcess || needsProcess(args, all, options)))
        return user.start(args, options).exited;
      return callCli(args, { ...options, cwd: user.workDir, home, env: all });
    },
    async json(...args) {
      const { code, stdout, stderr } = await user.hw([...args, '--json']);
      if (code !== 0) throw new Error(`hw ${args.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
    remove: () => rm(home, { recursive: true, force: true }),
  };
  return user;
}

/** A proxy is set for the whole process, a terminal is one's own, and servers hear signals. */
function needsProcess(args: readonly string[], env: Record<string, string>, { terminal }: CliRun): boolean {
  return terminal === true || args[0] === 'server' || Object.keys(env).some((name) => /_proxy$/i.test(name));
}

/** Does the same as cli/src/main.ts, with its own home and streams. */
async function callCli(
  args: readonly string[],
  { stdin = '', cwd, home, env }: CliRun & { cwd: string; home: string; env: Record<string, string> },
): Promise<CliResult> {
  let [stdout, stderr] = ['', ''];
  const { version } = JSON.parse(readFileSync(path.join(CLI, 'package.json'), 'utf8')) as { version: string };
  const code = await runCli({
    argv: args,
    environment: readEnvironment(env, home),
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    interactive: false,
    readStdin: async () => stdin,
    workDir: cwd,
    version,
    signal: new AbortController().signal,
  });
  return { code, stdout, stderr };
}

function startCli(
  args: readonly string[],
  { stdin, cwd, env, terminal }: CliRun & { cwd: string; env: Record<string, string> },
): RunningCli {
  const command = [process.execPath, HW, ...args];
  const [program = '', ...words] = terminal === true ? atTerminal(command) : command;
  const child = spawn(program, words, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  if (terminal !== true) child.stdin.end(stdin ?? '');
  // One that does not read its input is no concern of the test.
  child.stdin.on('error', () => undefined);
  let [stdout, stderr, over] = ['', '', false];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const forget = rememberProcess(child.pid);
  const exited = new Promise<CliResult>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      over = true;
      forget();
      resolve({ code, stdout, stderr });
    });
  });
  return {
    stdout: () => stdout,
    stderr: () => stderr,
    exited,
    type: (keys) => void child.stdin.write(keys),
    async untilOutput(pattern, timeoutMs = 20_000) {
      const found = await eventually(() => `${stdout}${stderr}`.match(pattern) ?? (over && 'over'), {
        what: `${pattern}`,
        timeoutMs,
      });
      if (found === 'over') throw new Error(`hw ended without ${pattern}:\n${stdout}${stderr}`);
      return found;
    },
    end(signal = 'SIGINT') {
      if (signal !== 'SIGKILL') endIdleConnections();
      child.kill(signal);
      return exited;
    },
  };
}

function atTerminal(command: readonly string[]): string[] {
  const quoted = command.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
  // A new terminal has no size, and prompts wrap each letter.
  const sized = `stty columns 160 rows 50; exec ${quoted}`;
  if (process.platform === 'darwin') return ['script', '-q', '/dev/null', 'sh', '-c', sized];
  return ['script', '--quiet', '--return', '--flush', '--command', sized, '/dev/null'];
}
