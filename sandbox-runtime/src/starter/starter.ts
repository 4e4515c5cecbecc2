import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { killGroup } from './kill-group.ts';
import { type FromStarter, type StartOrder, TOKEN_CHARS, type ToStarter } from './orders.ts';

/** How a process ended; without code and signal it could not be started, and `stderr` says why. */
export interface ProcessEnd {
  code: number | null;
  signal: string | null;
  /** The beginning of its standard error. */
  stderr: string;
}

interface ProcessEvents {
  /**
   * It runs, and `channel` is the other end of its descriptor 3, to be read at once. At most once,
   * before `ended`.
   */
  started(pid: number, channel: Socket): void;
  /**
   * The system refused to kill the process or the rest of its group, which lives on. At most once,
   * and only if it may belong to another user.
   */
  notKilled?(pid: number, error: string): void;
  /** Exactly once, when the channel has been read to its end and is closed. */
  ended(end: ProcessEnd): void;
}

export interface ProcessHandle {
  /** Kills the process and its group, even before it has started. Idempotent. */
  kill(): void;
}

/**
 * Starts processes for the node from a small process beside it. A start copies the page tables of
 * the parent, and waits until the child has run once. In the node, that would block its only thread
 * for 5 to 35 ms.
 */
export interface ProcessStarter {
  start(order: StartOrder, events: ProcessEvents): ProcessHandle;
  /** Runs a small program after earlier ones. Its end is not awaited. */
  command(program: string, args: readonly string[]): void;
  /** Writes a file for `StartOrder.files` and returns its path. It is removed at the end. */
  keepFile(name: string, content: Uint8Array): Promise<string>;
  /** Ends every process that is left. Idempotent. */
  stop(): Promise<void>;
}

interface Pending {
  events: ProcessEvents;
  pid: number | undefined;
  channel: Socket | undefined;
  isStarted: boolean;
  isKilled: boolean;
  /** The failure to kill it is reported. */
  isTold: boolean;
}

/** Length of a socket path that works on every system; the usual temporary folder may be longer. */
const MAX_PATH_BYTES = 100;
const HEAP_MB = 64;
/**
 * Time for the output left in the pipe of an ended process. Another process that holds the other
 * end may keep it open.
 */
const LAST_WORDS_MS = 1_000;
/**
 * The starter names each connection's process at once. Other code of this user may find the
 * address, such as code that has broken out of a fetch process. Without these limits, it could keep
 * connections open without end.
 */
export const NAMELESS = { maxMs: 5_000, maxConnections: 64 };

/** Rejects where no channel can be opened, or the process does not start. */
export async function createStarter(): Promise<ProcessStarter> {
  const folder = await makeFolder();
  const starter = new Starter(join(folder, 's'));
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= starter.stop().then(() => rm(folder, { recursive: true, force: true }));
    return stopped;
  };
  try {
    await starter.listen();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    start: (order, events) => starter.start(order, events),
    command: (program, args) => starter.tell({ kind: 'command', program, args }),
    async keepFile(name, content) {
      const path = join(folder, name);
      await writeFile(path, content);
      return path;
    },
    stop,
  };
}

/** `mkdtemp` gives access to this user only. */
async function makeFolder(): Promise<string> {
  const usual = join(tmpdir(), 'hw-');
  return mkdtemp(Buffer.byteLength(usual) < MAX_PATH_BYTES - 'XXXXXX/s'.length ? usual : '/tmp/hw-');
}

class Starter {
  readonly #address: string;
  readonly #server: Server;
  readonly #all = new Map<string, Pending>();
  readonly #connections = new Set<Socket>();
  /** Connections that have not named their process yet, oldest first. */
  readonly #nameless = new Set<Socket>();
  #scripts = new Map<string, number>();
  #child: ChildProcess | undefined;

  constructor(address: string) {
    this.#address = address;
    this.#server = createServer({ pauseOnConnect: true }, (socket) => this.#connected(socket));
  }

  async listen(): Promise<void> {
    const listening = once(this.#server, 'listening');
    // In a worker of a cluster the socket would else be made by the cluster's first process.
    this.#server.listen({ path: this.#address, exclusive: true });
    await listening;
    // The server alone does not keep the node alive; a caller that waits for a process does.
    this.#server.unref();
    const child = this.#fork();
    this.#child = child;
    const up = once(child, 'message');
    const over = once(child, 'exit').then(() => Promise.reject(new Error('The process that starts others has ended')));
    // The starter ends at some time, and then this promise has no waiter.
    over.catch(() => undefined);
    await Promise.race([up, over]);
  }

  start({ script, ...order }: StartOrder, events: ProcessEvents): ProcessHandle {
    const token = randomBytes(TOKEN_CHARS / 2).toString('hex');
    const one: Pending = {
      events,
      pid: undefined,
      channel: undefined,
      isStarted: false,
      isKilled: false,
      isTold: false,
    };
    this.#all.set(token, one);
    this.tell({ kind: 'start', token, script: this.#numberOf(script), order });
    return { kill: () => kill(one) };
  }

  tell(message: ToStarter): void {
    this.#child ??= this.#fork();
    // Ignores the error of a child that is ending: its orders end with it.
    this.#child.send(message, () => undefined);
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    }
    for (const socket of this.#connections) socket.destroy();
    // Calls back with an error if the server never listened.
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #fork(): ChildProcess {
    const child = fork(fileURLToPath(new URL('./starter-main.ts', import.meta.url)), [this.#address], {
      // Signals that a terminal sends to all of its processes are the node's alone to obey.
      detached: true,
      env: compileCache(),
      cwd: '/',
      execArgv: [`--max-old-space-size=${HEAP_MB}`, '--no-warnings', '--title=hw-starter'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    child.on('message', (message) => this.#receive(message as FromStarter));
    child.on('error', () => this.#lost(child));
    child.on('exit', () => this.#lost(child));
    return child;
  }

  #numberOf(script: string): number {
    const known = this.#scripts.get(script);
    if (known !== undefined) return known;
    const number = this.#scripts.size;
    this.#scripts.set(script, number);
    this.tell({ kind: 'script', script: number, code: script });
    return number;
  }

  #receive(message: FromStarter): void {
    if (message.kind === 'ready') return;
    const one = this.#all.get(message.token);
    if (one === undefined) return;
    if (message.kind === 'started') {
      one.pid = message.pid;
      if (one.isKilled) kill(one);
      return begin(one);
    }
    if (message.kind === 'not-killed') return notKilled(one, message.error);
    this.#all.delete(message.token);
    one.pid = undefined;
    const { code, signal, stderr } = message;
    void whenRead(one).then(() => one.events.ended({ code, signal, stderr }));
  }

  #connected(socket: Socket): void {
    this.#connections.add(socket);
    const named = this.#waitForName(socket);
    socket.once('close', () => {
      named();
      this.#connections.delete(socket);
    });
    // The end of a process tells more than the end of its pipe.
    socket.on('error', () => undefined);
    const read = (): void => {
      const token = socket.read(TOKEN_CHARS) as Buffer | null;
      if (token === null) return;
      socket.off('readable', read);
      named();
      const one = this.#all.get(token.toString('latin1'));
      if (one === undefined || one.channel !== undefined) return void socket.destroy();
      one.channel = socket;
      begin(one);
    };
    socket.on('readable', read);
  }

  /**
   * Waits for the connection to name its process, until the returned function is called. Over the
   * limit, the oldest connection is closed; the starter's own is never old.
   */
  #waitForName(socket: Socket): () => void {
    this.#nameless.add(socket);
    const [oldest] = this.#nameless;
    if (oldest !== undefined && this.#nameless.size > NAMELESS.maxConnections) {
      this.#nameless.delete(oldest);
      oldest.destroy();
    }
    const timer = setTimeout(() => socket.destroy(), NAMELESS.maxMs).unref();
    return () => {
      clearTimeout(timer);
      this.#nameless.delete(socket);
    };
  }

  /** It takes no process with it that could not be replaced. */
  #lost(child: ChildProcess): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    this.#scripts = new Map();
    const left = [...this.#all.values()];
    this.#all.clear();
    for (const one of left) {
      kill(one);
      one.pid = undefined;
      one.events.ended({ code: null, signal: null, stderr: 'The process that starts others has ended' });
    }
  }
}

/**
 * The last output of a process and the news of its end use different channels. Wait for the output.
 */
async function whenRead({ isStarted, channel }: Pending): Promise<void> {
  if (isStarted && channel !== undefined && !channel.closed) {
    const closed = new Promise<void>((resolve) => void channel.once('close', resolve));
    const timer = setTimeout(() => channel.destroy(), LAST_WORDS_MS);
    await closed;
    clearTimeout(timer);
  }
  channel?.destroy();
}

/**
 * With the node's compile cache, the starter starts in half the time. Its children do not inherit
 * it.
 */
function compileCache(): NodeJS.ProcessEnv {
  // Without the folder of this version of Node.
  const folder = getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}

function begin(one: Pending): void {
  if (one.isStarted || one.pid === undefined || one.channel === undefined) return;
  one.isStarted = true;
  one.events.started(one.pid, one.channel);
}

function kill(one: Pending): void {
  one.isKilled = true;
  const error = one.pid === undefined ? undefined : killGroup(one.pid);
  if (error !== undefined) notKilled(one, String(error));
}

function notKilled(one: Pending, error: string): void {
  if (one.isTold || one.pid === undefined) return;
  one.isTold = true;
  one.events.notKilled?.(one.pid, error);
}
