import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { isRunning, listProcessTree, type ProcessInfo } from '../../bench/src/system/process-tree.ts';
import type { Checkout } from './checkout.ts';
import { overlaps, type Period } from './periods.ts';
import type { Timeline } from './timeline.ts';

/**
 * One node under a supervisor, which starts it again after every end.
 *
 *   down ── start ──► starting ── listens ──► up
 *     ▲                  │                    │ freeze ──► frozen ── thaw ──► up
 *     └── pause ◄── ended (killed, asked to stop, or by itself) ◄──────────────┘
 *
 * A node is `disturbed` from a fault that hits its process until it listens again. The node cannot
 * answer requests that fail within such a time.
 */
export interface NodeProcess {
  name: string;
  role: 'api' | 'engine';
  url: string;
  logFile: string;
  pid(): number | undefined;
  /** It runs, is not frozen, and was not asked to stop. */
  canBeHit(): boolean;
  /** And it starts again once it has ended. */
  canBeEnded(): boolean;
  kill(): void;
  /** SIGTERM. */
  askToStop(): void;
  freeze(): void;
  thaw(): void;
  wasDisturbed(fromMs: number, toMs: number): boolean;
  /** It has been asked to stop and has not ended yet. */
  isStopping(): boolean;
  /** Processes that it had when it was killed, and that still run. Linux only. */
  leftOver(): ProcessInfo[];
  figures(): NodeFigures;
  /** Ends it for good: SIGTERM, then by force. Idempotent. */
  stop(): Promise<void>;
}

interface NodeFigures {
  starts: number;
  slowestStartMs: number;
  /** Unrequested ends, with the end of the log. */
  endedByItself: string[];
  /** Graceful stops that did not end with 0. */
  badStops: string[];
  logBytes: number;
}

export interface NodeOptions {
  name: string;
  role: 'api' | 'engine';
  checkout: Checkout;
  /** An older version does not start on a database that a newer one has migrated. */
  startsOnce: boolean;
  port: number;
  env: Readonly<Record<string, string>>;
  logFile: string;
  timeline: Timeline;
  /** Before the next start of a node that has ended. */
  restartPauseMs: () => number;
}

const PROBE_EVERY_MS = 100;
const PROBE_TIMEOUT_MS = 2_000;
const STOP_TIMEOUT_MS = 30_000;
const SHOWN_LOG_CHARS = 2_000;

export function startNode(options: NodeOptions): NodeProcess {
  const { name, role, port, logFile, timeline } = options;
  const url = `http://127.0.0.1:${port}`;
  const figures = { starts: 0, slowestStartMs: 0, endedByItself: [] as string[], badStops: [] as string[] };
  const periods: Period[] = [];
  const killed: ProcessInfo[] = [];
  let child: ChildProcess | undefined;
  let state: 'down' | 'starting' | 'up' | 'stopping' | 'frozen' | 'killed' = 'down';
  let listens = false;
  let isOver = false;
  let pause: NodeJS.Timeout | undefined;
  let ended = Promise.withResolvers<void>();

  function start(): void {
    const startedAtMs = Date.now();
    const logFrom = sizeOf(logFile);
    const process = spawnNode(options);
    child = process;
    state = 'starting';
    listens = false;
    figures.starts++;
    ended = Promise.withResolvers();
    process.once('error', (error) => timeline.add('a node cannot be started', { node: name, error: error.message }));
    process.once('exit', (code, signal) => onExit(code, signal, logFrom));
    void untilListens(url, () => child === process).then((isUp) => {
      // An answer that came just before the kill.
      if (!isUp || state === 'killed') return;
      listens = true;
      figures.slowestStartMs = Math.max(figures.slowestStartMs, Date.now() - startedAtMs);
      if (state === 'starting') {
        state = 'up';
        endDisturbance();
      }
      timeline.add('up', { node: name, tookMs: Date.now() - startedAtMs });
    });
  }

  function onExit(code: number | null, signal: NodeJS.Signals | null, logFrom: number): void {
    const end = signal ?? `code ${code}`;
    timeline.add('ended', { node: name, while: state, end });
    // Asked before it had set up anything, it ends as any process does.
    const isInOrder = code === 0 || (signal === 'SIGTERM' && !listens);
    if (state === 'stopping' && !isInOrder) figures.badStops.push(`${name}: ${end}\n${tailOf(logFile, logFrom)}`);
    if (state === 'starting' || state === 'up' || state === 'frozen') {
      figures.endedByItself.push(`${name}: ${end} while ${state}\n${tailOf(logFile, logFrom)}`);
      beginDisturbance();
    }
    child = undefined;
    state = 'down';
    ended.resolve();
    if (!isOver) pause = setTimeout(start, options.restartPauseMs());
  }

  const canBeHit = () => child !== undefined && (state === 'starting' || state === 'up');
  function beginDisturbance(): void {
    if (periods.at(-1)?.toMs !== Infinity) periods.push({ fromMs: Date.now(), toMs: Infinity });
  }
  function endDisturbance(): void {
    const last = periods.at(-1);
    if (last?.toMs === Infinity) last.toMs = Date.now();
  }
  function hit(next: typeof state, signal: NodeJS.Signals): void {
    beginDisturbance();
    state = next;
    child?.kill(signal);
  }

  beginDisturbance();
  start();
  return {
    name,
    role,
    url,
    logFile,
    pid: () => child?.pid,
    canBeHit,
    canBeEnded: () => canBeHit() && !options.startsOnce,
    kill() {
      if (child?.pid !== undefined) killed.push(...listProcessTree(child.pid));
      hit('killed', 'SIGKILL');
    },
    askToStop: () => hit('stopping', 'SIGTERM'),
    freeze: () => hit('frozen', 'SIGSTOP'),
    thaw() {
      child?.kill('SIGCONT');
      if (state === 'frozen') state = listens ? 'up' : 'starting';
      if (listens) endDisturbance();
    },
    wasDisturbed: (fromMs, toMs) => overlaps(periods, fromMs, toMs),
    isStopping: () => state === 'stopping',
    leftOver: () => killed.filter(isRunning),
    figures: () => ({ ...figures, logBytes: sizeOf(logFile) }),
    async stop() {
      isOver = true;
      clearTimeout(pause);
      if (child === undefined) return;
      child.kill('SIGCONT');
      if (state !== 'killed' && state !== 'stopping') hit('stopping', 'SIGTERM');
      const force = setTimeout(() => child?.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await ended.promise;
      clearTimeout(force);
    },
  };
}

function spawnNode({ role, checkout, port, env, logFile }: NodeOptions): ChildProcess {
  const log = openSync(logFile, 'a');
  try {
    return spawn(process.execPath, [...checkout.nodeFlags, checkout.main, role], {
      // To a file, so that the node's output arrives even while this process is busy.
      stdio: ['ignore', log, log],
      // Ctrl-C in the terminal reaches this process alone, which stops its nodes.
      detached: true,
      env: { NODE_COMPILE_CACHE: checkout.compiled, ...inheritedEnv(), ...env, PORT: String(port) },
    });
  } finally {
    closeSync(log);
  }
}

function inheritedEnv(): Record<string, string> {
  const names = ['PATH', 'HOME', 'TMPDIR', 'NODE_COMPILE_CACHE'];
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

/**
 * Any answer will do: a node that waits for its database is up too. False: it is another process's
 * turn.
 */
async function untilListens(url: string, isCurrent: () => boolean): Promise<boolean> {
  while (isCurrent()) {
    try {
      await (await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) })).arrayBuffer();
      return isCurrent();
    } catch {
      // Not listening yet.
      await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS));
    }
  }
  return false;
}

const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

function tailOf(file: string, fromByte: number): string {
  return readFileSync(file).subarray(fromByte).toString('utf8').slice(-SHOWN_LOG_CHARS);
}
