import { EventEmitter } from 'events/';
import { NODE_FACTS } from './node-facts.ts';
import { systemError } from '../network-error.ts';
import { codedError, notAvailable, requireFunction, requireString } from './errors.ts';
import { RefusedSocket } from './refused-socket.ts';
import { giveName, giveNames } from './give-names.ts';
import { makeUnavailable } from './unavailable.ts';

const { builtinModules: BUILTIN_MODULES, osConstants: OS_CONSTANTS } = NODE_FACTS;

type AnyFunction = (...args: unknown[]) => unknown;

const MEMORY_BYTES = 128 * 1024 * 1024;

/** `os`: a plain machine, the same for every component. Nothing of the real one is told. */
export function makeOs(): Record<string, unknown> {
  return {
    constants: OS_CONSTANTS,
    EOL: '\n',
    devNull: '/dev/null',
    arch: () => 'x64',
    platform: () => 'linux',
    type: () => 'Linux',
    release: () => '6.0.0',
    version: () => '#1 SMP',
    machine: () => 'x86_64',
    endianness: () => 'LE',
    hostname: () => 'sandbox',
    homedir: () => '/tmp',
    tmpdir: () => '/tmp',
    uptime: () => process.uptime(),
    loadavg: () => [0, 0, 0],
    totalmem: () => MEMORY_BYTES,
    freemem: () => MEMORY_BYTES / 2,
    cpus: () => [{ model: 'cpu', speed: 2000, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } }],
    availableParallelism: () => 1,
    networkInterfaces: () => ({}),
    userInfo: () => ({ username: 'sandbox', uid: 1000, gid: 1000, shell: null, homedir: '/tmp' }),
    getPriority: () => 0,
    setPriority: () => undefined,
  };
}

const BY_HTTP_ONLY = 'components reach other hosts by HTTP only; use http, https or fetch';

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/;

function isIP(text: unknown): number {
  return IPV4.test(String(text)) ? 4 : isIPv6(String(text)) ? 6 : 0;
}

function isIPv6(text: string): boolean {
  const [address = ''] = text.split('%', 1);
  return /^[0-9a-f:.]+$/i.test(address) && address.includes(':') && URL.canParse(`http://[${address}]/`);
}

/**
 * `net`: addresses can be judged, connections cannot be made; see docs/adr/012-node-builtins.md.
 */
export function makeNet(): Record<string, unknown> {
  const connect = (...args: unknown[]): RefusedSocket => new RefusedSocket(BY_HTTP_ONLY).connect(...args);
  class Socket extends RefusedSocket {
    constructor() {
      super(BY_HTTP_ONLY);
    }
  }
  return {
    ...makeUnavailable('net'),
    connect,
    createConnection: connect,
    Socket,
    Stream: Socket,
    isIP,
    isIPv4: (text: unknown) => isIP(text) === 4,
    isIPv6: (text: unknown) => isIP(text) === 6,
    getDefaultAutoSelectFamily: () => true,
    setDefaultAutoSelectFamily: () => undefined,
  };
}

/** As where there is no name server: packages are prepared for that. */
function unresolved(name: string, host: unknown): Error {
  const reason = 'names are resolved by the platform, when a request is made';
  if (name.startsWith('lookup')) return systemError('ENOTFOUND', reason, { host: String(host), port: 0 });
  const syscall = `query${name
    .replace(/^resolve/, '')
    .replace(/^$/, 'A')
    .replace(/^[46]$/, (family) => (family === '4' ? 'A' : 'Aaaa'))}`;
  const error = new Error(`${syscall} ECONNREFUSED ${String(host)}: ${reason}`);
  return Object.assign(error, { errno: undefined, code: 'ECONNREFUSED', syscall, hostname: String(host) });
}

function requireHost(name: string, host: unknown): void {
  if (name === 'lookup' && (host === undefined || host === null || host === '')) return;
  requireString(name === 'lookup' ? 'hostname' : name === 'lookupService' ? 'address' : 'name', host);
}

/**
 * Arguments of a callback for an address, which needs no resolving, and for no name, which resolves
 * to nothing.
 */
function literalAddress(host: unknown, options: unknown): unknown[] | undefined {
  const text = typeof host === 'string' ? host : '';
  const family = isIP(text);
  if (family === 0 && text !== '') return undefined;
  const { all } = (typeof options === 'object' && options !== null ? options : {}) as { all?: unknown };
  const address = text === '' ? null : text;
  if (all !== true) return [address, family === 0 ? 4 : family];
  return [address === null ? [] : [{ address, family }]];
}

/** `dns`: names are resolved by the node when it makes a request, and not for components. */
export function makeDns(): Record<string, unknown> {
  const module = makeUnavailable('dns');
  const names = Object.keys(module).filter((name) => /^(?:lookup|resolve|reverse)/.test(name));
  for (const name of names)
    module[name] = (host: unknown, ...rest: unknown[]): void => {
      const callback = rest.at(-1);
      requireHost(name, host);
      requireFunction('callback', typeof callback === 'function' ? callback : undefined);
      const literal = name === 'lookup' ? literalAddress(host, rest[0]) : undefined;
      if (literal === undefined) setImmediate(callback as AnyFunction, unresolved(name, host));
      else setImmediate(callback as AnyFunction, null, ...literal);
    };
  const reject =
    (name: string) =>
    async (host: unknown, options?: unknown): Promise<unknown> => {
      requireHost(name, host);
      const literal = name === 'lookup' ? literalAddress(host, options) : undefined;
      if (literal === undefined) throw unresolved(name, host);
      return literal.length === 1 ? literal[0] : { address: literal[0], family: literal[1] };
    };
  const promises = Object.fromEntries(names.map((name) => [name, reject(name)]));
  const order = { getDefaultResultOrder: () => 'verbatim', setDefaultResultOrder: () => undefined };
  giveNames('dns', promises);
  return { ...module, ...order, promises: { ...promises, ...order } };
}

/** `cluster`: the first and only process of none. Packages listen on it when they are loaded. */
export function makeCluster(): Record<string, unknown> {
  const roles = { isPrimary: true, isMaster: true, isWorker: false, workers: {}, settings: {} };
  return Object.assign(new EventEmitter(), makeUnavailable('cluster'), roles) as unknown as Record<string, unknown>;
}

/** `vm`: a Script can be made, because packages do so when they are loaded; it cannot be run. */
export function makeVm(): Record<string, unknown> {
  const refuse = (): never => {
    throw notAvailable('vm.Script', 'code cannot be compiled in other contexts');
  };
  class Script {
    readonly runInThisContext = refuse;
    readonly runInContext = refuse;
    readonly runInNewContext = refuse;
  }
  return { ...makeUnavailable('vm'), Script, isContext: () => false, createContext: (target: object = {}) => target };
}

export function makeWorkerThreads(): Record<string, unknown> {
  const refuse = (name: string) =>
    giveName(function refused(): never {
      throw notAvailable(`worker_threads.${name}`);
    }, name);
  const { MessageChannel, MessagePort, BroadcastChannel } = globalThis as unknown as Record<string, unknown>;
  return {
    isMainThread: true,
    threadId: 0,
    parentPort: null,
    workerData: null,
    resourceLimits: {},
    Worker: refuse('Worker'),
    MessageChannel: MessageChannel ?? refuse('MessageChannel'),
    MessagePort: MessagePort ?? refuse('MessagePort'),
    BroadcastChannel: BroadcastChannel ?? refuse('BroadcastChannel'),
    getEnvironmentData: () => undefined,
    setEnvironmentData: () => undefined,
    markAsUntransferable: () => undefined,
    isMarkedAsUntransferable: () => false,
    markAsUncloneable: () => undefined,
    isInternalThread: false,
    threadName: '',
    SHARE_ENV: Symbol.for('nodejs.worker_threads.SHARE_ENV'),
  };
}

export function makeV8(): Record<string, unknown> {
  return {
    serialize: () => {
      throw notAvailable('v8.serialize', 'use structuredClone or JSON');
    },
    deserialize: () => {
      throw notAvailable('v8.deserialize', 'use structuredClone or JSON');
    },
    getHeapStatistics: () => ({
      heap_size_limit: MEMORY_BYTES,
      total_heap_size: MEMORY_BYTES / 2,
      used_heap_size: MEMORY_BYTES / 4,
    }),
    setFlagsFromString: () => undefined,
    cachedDataVersionTag: () => 0,
  };
}

export function makeTty(): Record<string, unknown> {
  return {
    isatty: () => false,
    ReadStream: function ReadStream(): never {
      throw notAvailable('A terminal');
    },
    WriteStream: function WriteStream(): never {
      throw notAvailable('A terminal');
    },
  };
}

/** `module`, with a `require` that knows the builtin modules: everything else was bundled. */
export function makeModule(getBuiltin: (name: string) => unknown): Record<string, unknown> {
  const isBuiltin = (name: string): boolean => BUILTIN_MODULES.includes(name.replace(/^node:/, ''));
  const createRequire = (): AnyFunction => {
    const require = (name: unknown): unknown => {
      if (isBuiltin(String(name))) return getBuiltin(String(name));
      throw codedError(
        'MODULE_NOT_FOUND',
        `Cannot find module '${String(name)}': only what is imported by name is bundled`,
      );
    };
    return Object.assign(require, { resolve: (name: string) => name, cache: {}, extensions: {}, main: undefined });
  };
  const Module = function Module(): void {};
  return Object.assign(Module, {
    Module,
    createRequire,
    isBuiltin,
    builtinModules: BUILTIN_MODULES,
    _load: createRequire(),
    _extensions: {},
    _cache: {},
    register: () => undefined,
    syncBuiltinESMExports: () => undefined,
    findSourceMap: () => undefined,
  }) as unknown as Record<string, unknown>;
}

export function makePerfHooks(): Record<string, unknown> {
  const { PerformanceEntry, PerformanceMark, PerformanceMeasure } = globalThis as unknown as Record<string, unknown>;
  class PerformanceObserver {
    observe(): void {}
    disconnect(): void {}
  }
  return {
    performance,
    constants: {},
    PerformanceEntry,
    PerformanceMark,
    PerformanceMeasure,
    PerformanceObserver,
    monitorEventLoopDelay: () => ({
      enable: () => true,
      disable: () => true,
      min: 0,
      max: 0,
      mean: 0,
      percentile: () => 0,
    }),
    eventLoopUtilization: () => ({ idle: 0, active: 0, utilization: 0 }),
    timerify: (fn: AnyFunction) => fn,
  };
}

/** `console`: the global one, and the class for packages that construct their own. */
export function makeConsoleModule(): unknown {
  const { console } = globalThis;
  const Console = function Console(this: object): void {
    Object.assign(this, console);
  };
  return Object.assign(Object.create(null) as object, console, { Console });
}

/** `constants`: those of os, fs and crypto in one, as it was long ago. */
export function joinConstants(...lists: Record<string, unknown>[]): Record<string, unknown> {
  return Object.assign({}, ...lists) as Record<string, unknown>;
}
