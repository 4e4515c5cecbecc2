import punycode from 'unenv/node/punycode';
import * as querystring from 'unenv/node/querystring';
import { loadLegacyUrl } from './node/legacy-url.ts';
import { NODE_FACTS } from './node/node-facts.ts';
import { applyFunction, toText } from './intrinsics.ts';
import { requireNamed } from './web-idl.ts';
import type { Bridge } from './bridge.ts';
import { type AvailableName, UNAVAILABLE_NAMES, type UnavailableName } from './builtin-names.ts';
import { makeAssert } from './node/assert.ts';
import { makeAsyncHooks } from './node/async-hooks.ts';
import { makeBufferModule } from './node/buffer.ts';
import { makeCrypto } from './node/crypto/crypto.ts';
import { makeDiagnosticsChannel } from './node/diagnostics-channel.ts';
import { codedError, nativeError } from './node/errors.ts';
import { EventEmitter } from 'events/';
import { giveName, giveNames } from './node/give-names.ts';
import { makeFs } from './node/fs/fs.ts';
import { Volume } from './node/fs/volume.ts';
import { makeHttp } from './node/http/http.ts';
import { posix, win32 } from './node/path.ts';
import * as small from './node/small-modules.ts';
import { makeStreamConsumers, makeStreamModule, makeStreamWeb } from './node/stream.ts';
import { makeStringDecoder } from './node/string-decoder.ts';
import { makeTimers } from './node/timers.ts';
import { makeTls } from './node/tls.ts';
import { makeUnavailable } from './node/unavailable.ts';
import { types } from './node/util-types.ts';
import { makeUtil } from './node/util.ts';
import { makeZlib } from './node/zlib.ts';
import type { RawRequests } from './raw-requests.ts';
import type { RunContext, RunTracker } from './run-context.ts';

const { cryptoConstants: CRYPTO_CONSTANTS, fsConstants: FS_CONSTANTS, osConstants: OS_CONSTANTS } = NODE_FACTS;

export interface BuiltinParts {
  bridge: Bridge;
  runs: RunTracker;
  requests: RawRequests;
  webCrypto: Parameters<typeof makeCrypto>[1];
  textClasses: Record<string, unknown>;
  timers: Parameters<typeof makeTimers>[0];
  process(): unknown;
}

type Module = Record<string, unknown>;
type AnyFunction = (...args: unknown[]) => unknown;

/**
 * Hands out Node's modules by name, each made when it is first asked for and kept for the isolate's
 * life.
 */
export function makeBuiltins(parts: BuiltinParts): (name: string) => unknown {
  const made = new Map<string, unknown>();
  const get = (given: string): unknown => {
    const name = given.startsWith('node:') ? given.slice(5) : given;
    if (made.has(name)) return made.get(name);
    const module = makeOne(name);
    for (const [path, target] of ownFunctions(name, module as Module)) giveNames(path, target);
    made.set(name, module);
    return module;
  };
  const makers = { ...webModules(parts), ...makersOf(get) };
  const makeOne = (name: string): unknown => {
    if (Object.hasOwn(makers, name)) return makers[name as AvailableName]();
    if ((UNAVAILABLE_NAMES as readonly string[]).includes(name)) return makeUnavailable(name as UnavailableName);
    throw codedError('ERR_UNKNOWN_BUILTIN_MODULE', `No such built-in module: ${name}`);
  };
  return get;
}

/** Objects that hold the guest's own functions. Functions of packages already have Node's names. */
function ownFunctions(name: string, module: Module): [path: string, target: object][] {
  switch (name) {
    case 'assert':
    case 'util':
    case 'fs': {
      const inner = { assert: 'strict', util: 'types', fs: 'promises' }[name];
      return [
        [name, module],
        [`${name}.${inner}`, module[inner] as object],
      ];
    }
    case 'console':
    case 'crypto':
    case 'dns':
    case 'events':
    case 'http':
    case 'https':
    case 'net':
    case 'os':
    case 'perf_hooks':
    case 'stream/consumers':
    case 'tty':
    case 'zlib':
      return [[name, module]];
    default:
      return [];
  }
}

type MadeOverBridge = 'crypto' | 'zlib' | 'fs' | 'http' | 'https' | 'buffer' | 'timers' | 'process' | 'util';

/** Modules that need the bridge or the globals of this isolate. */
function webModules(parts: BuiltinParts): Record<MadeOverBridge, () => unknown> {
  const { bridge, runs, requests } = parts;
  return {
    buffer: makeBufferModule,
    crypto: () => makeCrypto(bridge, parts.webCrypto),
    fs: () => makeFs(makeVolumes(runs)),
    http: () => makeHttp(requests, 'http:'),
    https: () => makeHttp(requests, 'https:'),
    process: () => parts.process(),
    timers: () => makeTimers(parts.timers),
    util: () => makeUtil(parts.textClasses),
    zlib: () => makeZlib(bridge),
  };
}

function makersOf(get: (name: string) => unknown): Record<Exclude<AvailableName, MadeOverBridge>, () => unknown> {
  const of = (name: string): Module => get(name) as Module;
  return {
    assert: makeAssert,
    'assert/strict': () => of('assert')['strict'],
    async_hooks: makeAsyncHooks,
    cluster: small.makeCluster,
    console: small.makeConsoleModule,
    constants: () => small.joinConstants(...Object.values(OS_CONSTANTS), FS_CONSTANTS, CRYPTO_CONSTANTS),
    diagnostics_channel: makeDiagnosticsChannel,
    dns: small.makeDns,
    'dns/promises': () => of('dns')['promises'],
    events: () => EventEmitter,
    'fs/promises': () => of('fs')['promises'],
    module: () => small.makeModule(get),
    net: small.makeNet,
    os: small.makeOs,
    path: () => posix,
    'path/posix': () => posix,
    'path/win32': () => win32,
    perf_hooks: small.makePerfHooks,
    punycode: () => punycode as unknown,
    querystring: () => withErrorsOfNode({ ...querystring }),
    stream: makeStreamModule,
    'stream/consumers': makeStreamConsumers,
    'stream/promises': () => of('stream')['promises'],
    'stream/web': makeStreamWeb,
    string_decoder: () => ({ StringDecoder: makeStringDecoder() }),
    sys: () => get('util'),
    'timers/promises': () => of('timers')['promises'],
    tls: makeTls,
    tty: small.makeTty,
    url: makeUrl,
    'util/types': () => types,
    v8: small.makeV8,
    vm: small.makeVm,
    worker_threads: small.makeWorkerThreads,
  };
}

function makeUrl(): Module {
  const { default: _, domainToASCII: toASCII, domainToUnicode: toUnicode, ...functions } = loadLegacyUrl();
  const convert = (work: unknown, given: [domain?: unknown]): string => {
    requireNamed(given.length, 'domain');
    return (work as (domain: string) => string)(toText(given[0]));
  };
  const domainToASCII = (...given: [domain?: unknown]): string => convert(toASCII, given);
  const domainToUnicode = (...given: [domain?: unknown]): string => convert(toUnicode, given);
  return { ...withErrorsOfNode(functions), domainToASCII, domainToUnicode, URL, URLSearchParams };
}

/** The package has a class for each code; Node's errors are plain ones with a code. */
function withErrorsOfNode(functions: Module): Module {
  const wrapped: Module = {};
  for (const [name, value] of Object.entries(functions)) {
    if (typeof value !== 'function' || /^[A-Z]/.test(name)) wrapped[name] = value;
    else {
      const work = (...args: unknown[]): unknown => callAsNode(value as AnyFunction, args);
      Object.defineProperty(work, 'length', { value: value.length, configurable: true });
      wrapped[name] = giveName(work, value.name);
    }
  }
  return wrapped;
}

function callAsNode(work: AnyFunction, args: unknown[]): unknown {
  try {
    return applyFunction(work, undefined, args);
  } catch (error) {
    throw asErrorOfNode(error);
  }
}

function asErrorOfNode(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code, message, ...more } = error as Error & { code?: unknown; base?: unknown };
  if (typeof code !== 'string' || error.constructor.name !== code) return error;
  const Base = error instanceof TypeError ? TypeError : error instanceof URIError ? URIError : Error;
  const make = code === 'ERR_INVALID_URL' ? nativeError : codedError;
  if (more.base === undefined) delete more.base;
  return Object.assign(make(code, message, Base), more);
}

const { get: getVolume, set: setVolume } = WeakMap.prototype;

/**
 * Gives the current run its own files. They disappear with it, and no other run can reach them or
 * the run's context.
 */
function makeVolumes(runs: RunTracker): () => Volume {
  const volumes = new WeakMap<RunContext, Volume>();
  return () => {
    const context = runs.current();
    if (context === undefined) throw new Error('Files can be used during a run only');
    const found = applyFunction(getVolume, volumes, [context]) as Volume | undefined;
    if (found !== undefined) return found;
    const volume = new Volume(context.limits);
    applyFunction(setVolume, volumes, [context, volume]);
    return volume;
  };
}
