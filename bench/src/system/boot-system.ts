import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Undo } from '../undo.ts';
import { findFreePort } from './free-port.ts';
import { isRunning, killProcesses, listProcessTree, type ProcessInfo } from './process-tree.ts';

export interface System {
  /** `http://127.0.0.1:<port>` */
  url: string;
  apiKey: string;
  /** The operator's. */
  adminKey: string;
  /** Debugger URL for the profiler; only with `inspect`. */
  inspectorUrl?: string;
  processes(): ProcessInfo[];
  /** Graceful, then by force. Idempotent. */
  stop(): Promise<void>;
}

export interface BootOptions {
  /** Run under the inspector, on a free port of loopback. Default: `npm start`, as a user would. */
  inspect?: boolean;
  /**
   * Data folder of the server, kept afterwards. Default: a temporary folder, deleted with the
   * system.
   */
  dataDir?: string;
  /** Folder of compiled code (`XDG_CACHE_HOME`). Default: the user's. */
  cacheDir?: string;
  /** A server that runs already. Default: the embedded one. */
  databaseUrl?: string;
  /** Another working tree of the project. Default: this one. */
  projectDir?: string;
}

export const PROJECT_DIR = path.resolve(import.meta.dirname, '../../..');
const BOOT_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;
const POLL_MS = 20;
const SHOWN_LOG_CHARS = 3_000;

/** Starts the whole system on a data folder of its own that goes away with it. */
export async function bootSystem(undo: Undo, options: BootOptions = {}): Promise<System> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'headwater-bench-'));
  undo.push(() => rmSync(dataDir, { recursive: true, force: true }));
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const apiKey = `hw_bench_${'k'.repeat(32)}`;
  const adminKey = `hw_bench_${'a'.repeat(32)}`;
  const logFile = path.join(dataDir, 'bench-server.log');
  const child = start(options, logFile, {
    PORT: String(port),
    HEADWATER_DATA_DIR: options.dataDir ?? path.join(dataDir, 'data'),
    HEADWATER_API_KEY: apiKey,
    HEADWATER_ADMIN_KEY: adminKey,
    HEADWATER_EGRESS_ALLOW: '127.0.0.0/8',
    HEADWATER_PUBLIC_URL: url,
    ...(options.cacheDir === undefined ? {} : { XDG_CACHE_HOME: options.cacheDir }),
    ...(options.databaseUrl === undefined ? {} : { DATABASE_URL: options.databaseUrl }),
  });
  let stopped: Promise<void> | undefined;
  // Listed once all of it runs: the embedded Postgres has a session of its own, and if its parent
  // is killed nothing leads to it.
  let booted: ProcessInfo[] = [];
  const stop = () => (stopped ??= endTree(child, booted));
  undo.push(stop);
  await untilHealthy(url, child, logFile);
  booted = listProcessTree(child.pid as number);
  const inspectorUrl = /Debugger listening on (ws:\S+)/.exec(readFileSync(logFile, 'utf8'))?.[1];
  const inspected = inspectorUrl === undefined ? {} : { inspectorUrl };
  return { url, apiKey, adminKey, ...inspected, processes: () => listProcessTree(child.pid as number), stop };
}

function start(options: BootOptions, logFile: string, env: Record<string, string>): ChildProcess {
  const log = openSync(logFile, 'a');
  const [command, args] =
    options.inspect === true ? [process.execPath, ['--inspect=127.0.0.1:0', 'api/src/main.ts']] : ['npm', ['start']];
  try {
    // To a file, not a pipe: reading it would cost the driver. A process group of its own, so that
    // all of it can be ended.
    return spawn(command, args, {
      cwd: options.projectDir ?? PROJECT_DIR,
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...process.env, ...env },
    });
  } finally {
    closeSync(log);
  }
}

async function untilHealthy(url: string, child: ChildProcess, logFile: string): Promise<void> {
  const deadlineMs = performance.now() + BOOT_TIMEOUT_MS;
  while (performance.now() < deadlineMs && child.exitCode === null) {
    const status = await fetch(`${url}/healthz`).then(
      (response) => response.status,
      // Not listening yet.
      () => 0,
    );
    if (status === 200) return;
    await sleep(POLL_MS);
  }
  throw new Error(`The server did not become ready:\n${readFileSync(logFile, 'utf8').slice(-SHOWN_LOG_CHARS)}`);
}

async function endTree(child: ChildProcess, booted: readonly ProcessInfo[]): Promise<void> {
  const tree = [...booted, ...listProcessTree(child.pid as number)];
  const isOver = () => (child.exitCode !== null || child.signalCode !== null) && !tree.some(isRunning);
  // Without the server, which stops it, its Postgres would run for ever.
  const isLed = () => tree.length === 0 || tree.some((info) => isRunning(info) && !/postgres/.test(info.command));
  signalGroup(child, 'SIGTERM');
  const deadlineMs = performance.now() + STOP_TIMEOUT_MS;
  while (performance.now() < deadlineMs && !isOver() && isLed()) await sleep(POLL_MS);
  if (isOver()) return;
  signalGroup(child, 'SIGKILL');
  killProcesses(tree);
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-(child.pid as number), signal);
  } catch {
    // The group is gone.
  }
}
