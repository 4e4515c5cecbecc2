import { EventEmitter } from 'events/';
import { makeProcessEmitter } from './process-events.ts';
import { NODE_FACTS } from './node/node-facts.ts';
import { now } from './intrinsics.ts';
import { notAvailable, requireFunction, requireString } from './node/errors.ts';
import { giveName, giveNames } from './node/give-names.ts';
import { Writable } from './node/stream.ts';

const { versions: MODULE_VERSIONS, version: NODE_VERSION } = NODE_FACTS;

export interface ProcessParts {
  /** Runs a callback before callbacks that wait for an event; an error ends the run. */
  nextTick(callback: (...args: unknown[]) => void, ...args: unknown[]): void;
  getBuiltin(name: string): unknown;
  /** Writes a line to the log of the run. */
  warn(message: string): void;
}

const NOTHING = (): void => undefined;
const RSS_BYTES = 64 * 1024 * 1024;

/**
 * A `process` with the fields that packages read to detect their platform. A sandbox has no
 * environment variables.
 */
export function makeProcess(parts: ProcessParts): Record<string, unknown> {
  const startedAtMs = now();
  const elapsedMs = (): number => now() - startedAtMs;
  const process = makeProcessEmitter((message) => parts.warn(message)) as unknown as Record<string, unknown>;
  Object.assign(process, {
    ...facts(),
    nextTick: (callback: unknown, ...args: unknown[]) => {
      requireFunction('callback', callback);
      parts.nextTick(callback as () => void, ...args);
    },
    getBuiltinModule: (id: unknown) => {
      requireString('id', id);
      try {
        return parts.getBuiltin(id as string);
      } catch (error) {
        // Packages look with it for modules that newer versions of Node have.
        if ((error as { code?: unknown }).code === 'ERR_UNKNOWN_BUILTIN_MODULE') return undefined;
        throw error;
      }
    },
    cwd: () => '/tmp',
    chdir: refuse('process.chdir'),
    exit: refuse('process.exit', 'return from run, or throw'),
    abort: refuse('process.abort'),
    kill: refuse('process.kill'),
    // Packages of old look at Node's own modules with it when they are loaded: there are none.
    binding: () => ({}),
    uptime: () => elapsedMs() / 1000,
    hrtime: makeHrtime(elapsedMs),
    memoryUsage: Object.assign(
      () => ({ rss: RSS_BYTES, heapTotal: RSS_BYTES, heapUsed: RSS_BYTES / 2, external: 0, arrayBuffers: 0 }),
      { rss: () => RSS_BYTES },
    ),
    cpuUsage: () => ({ user: elapsedMs() * 1000, system: 0 }),
    resourceUsage: () => ({}),
    umask: () => 0o022,
    getuid: () => 1000,
    geteuid: () => 1000,
    getgid: () => 1000,
    getegid: () => 1000,
    emitWarning: (warning: unknown) =>
      // oxlint-disable-next-line no-console -- the guest's console: the log of the run
      console.warn(warning instanceof Error ? String(warning) : `Warning: ${String(warning)}`),
  });
  giveNames('process', process, ['nextTick', 'memoryUsage']);
  defineStreams(process);
  Object.defineProperty(process, Symbol.toStringTag, { value: 'process', configurable: true });
  return process;
}

function facts(): Record<string, unknown> {
  return {
    env: {},
    argv: ['node', 'component'],
    argv0: 'node',
    execArgv: [],
    execPath: '/usr/bin/node',
    title: 'node',
    version: NODE_VERSION,
    versions: MODULE_VERSIONS,
    platform: 'linux',
    arch: 'x64',
    pid: 1,
    ppid: 0,
    exitCode: undefined,
    browser: false,
    config: { variables: {} },
    features: {},
    release: { name: 'node' },
    // Packages with native addons look in it for the machine's C library.
    report: { getReport: () => ({ header: { glibcVersionRuntime: '2.36' }, sharedObjects: [] }) },
    ref: () => undefined,
    unref: () => undefined,
  };
}

function refuse(what: string, instead?: string) {
  const refused = (): never => {
    throw notAvailable(what, instead);
  };
  return giveName(refused, what.slice(what.indexOf('.') + 1));
}

function makeHrtime(elapsedMs: () => number): unknown {
  const hrtime = (before?: [number, number]): [number, number] => {
    const ms = elapsedMs();
    const [seconds, nanos] = [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
    if (before === undefined) return [seconds, nanos];
    const difference = [seconds - before[0], nanos - before[1]] as [number, number];
    return difference[1] < 0 ? [difference[0] - 1, difference[1] + 1e9] : difference;
  };
  return Object.assign(hrtime, { bigint: () => BigInt(elapsedMs()) * 1_000_000n });
}

/** Standard output is the log of the run, line by line; made when it is first looked at. */
function defineStreams(process: Record<string, unknown>): void {
  const makers: Record<string, () => unknown> = {
    // oxlint-disable no-console -- the guest's console: the log of the run
    stdout: () => lineStream((line) => console.log(line), 1),
    stderr: () => lineStream((line) => console.error(line), 2),
    // oxlint-enable no-console
    stdin: () =>
      Object.assign(new EventEmitter(), { fd: 0, isTTY: false, resume: NOTHING, pause: NOTHING, setEncoding: NOTHING }),
  };
  for (const name of Object.keys(makers)) {
    let made: unknown;
    Object.defineProperty(process, name, {
      configurable: true,
      enumerable: true,
      get: () => (made ??= (makers[name] as () => unknown)()),
    });
  }
}

function lineStream(print: (line: string) => void, fd: number): unknown {
  let rest = '';
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: unknown, _encoding, callback) {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) print(line);
      callback();
    },
  });
  return Object.assign(stream, { fd, isTTY: false });
}
