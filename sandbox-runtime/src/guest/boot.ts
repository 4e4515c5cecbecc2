// oxlint-disable import/no-unassigned-import -- core-js installs what its modules are named after
import 'core-js/actual/atob';
import 'core-js/actual/btoa';
import 'core-js/actual/dom-exception';
import 'core-js/actual/structured-clone';
import 'core-js/actual/url';
import 'core-js/actual/url-search-params';
import { Buffer } from 'buffer/';
import type { GuestLimits } from '../protocol/guest-limits.ts';
import { GuestAbortController, GuestAbortSignal } from './abort.ts';
import { makeBlobClasses } from './blob.ts';
import type { BlockingReference, Bridge } from './bridge.ts';
import { BUILTIN_FUNCTION } from './builtin-names.ts';
import { makeBuiltins } from './builtins.ts';
import { makeConsole, RunLog } from './console.ts';
import { GuestEvent, GuestEventTarget } from './event-target.ts';
import { GuestFetch } from './fetch.ts';
import { GuestFormData } from './form-data.ts';
import { Guest } from './guest.ts';
import { GuestHeaders } from './headers.ts';
import { applyFunction, defineGlobal, now, parseJson, whenSettled } from './intrinsics.ts';
import { guardPosts } from './post-guard.ts';
import { makeProcess } from './process-object.ts';
import { GuestResponse, makeFetchClasses, type RequestInit } from './request-response.ts';
import { RunTracker } from './run-context.ts';
import { makeTextClasses } from './text-encoding.ts';
import { GuestTimers } from './timers.ts';
import { makeWebCrypto } from './web-crypto.ts';

/*
 * Evaluated once per sandbox process into a V8 snapshot; every isolate starts from it and calls the function below. Only
 * data and classes may exist at this point: nothing of the bridge, no time, no randomness.
 */

type Dispatch = (kind: number, run: number, a: unknown, b: unknown, c: unknown, d: unknown) => string | undefined;

// Memory of these is not counted by the isolate's limit, or opens a clock fine enough to read other processes by.
const REMOVED = ['WebAssembly', 'SharedArrayBuffer', 'Atomics'] as const;

function bootGuest(post: Bridge['post'], ask: Bridge['ask'], dbGet: BlockingReference, limitsJson: string): Dispatch {
  for (const name of REMOVED) Reflect.deleteProperty(globalThis, name);
  const blockingCall = dbGet.applySyncPromise;
  const guarded = guardPosts(post);
  const bridge: Bridge = {
    post: guarded.post,
    ask,
    dbGet: (run, key) => applyFunction(blockingCall, dbGet, [undefined, [run, key]]) as string,
  };
  const runs = new RunTracker(parseJson(limitsJson) as GuestLimits);
  const log = new RunLog(bridge, runs);
  const timers = new GuestTimers(bridge, runs);
  const fetches = installGlobals(bridge, runs, log, timers);
  const guest = new Guest({ bridge, runs, log, timers, fetches });
  return (kind, run, a, b, c, d) => {
    guarded.reset();
    return guest.dispatch(kind, run, a, b, c, d);
  };
}

function installGlobals(bridge: Bridge, runs: RunTracker, log: RunLog, timers: GuestTimers): GuestFetch {
  const blobs = makeBlobClasses(bridge);
  const tools = { bridge, blobs };
  const fetches = new GuestFetch(tools, runs);
  const textClasses = makeTextClasses(bridge);
  const webCrypto = makeWebCrypto(bridge);
  const process = makeProcess();
  const startedAt = now();
  const globals: Record<string, unknown> = {
    console: makeConsole(log, runs),
    ...timers.globals(),
    fetch: (input: unknown, init?: RequestInit) => fetches.fetch(input, init),
    ...makeFetchClasses(tools),
    Blob: blobs.Blob,
    File: blobs.File,
    ...textClasses,
    crypto: webCrypto,
    process,
    performance: {
      now: () => now() - startedAt,
      timeOrigin: startedAt,
      mark: () => undefined,
      measure: () => undefined,
    },
    queueMicrotask: (callback: () => unknown) => whenSettled(undefined, () => void callback(), ignore),
    global: globalThis,
    [BUILTIN_FUNCTION]: makeBuiltins({ bridge, webCrypto, textClasses, timers: timers.globals(), process }),
  };
  for (const name of Object.keys(globals)) defineGlobal(name, globals[name]);
  return fetches;
}

function ignore(): void {}

const STATIC_GLOBALS: Record<string, unknown> = {
  AbortController: GuestAbortController,
  AbortSignal: GuestAbortSignal,
  Buffer,
  Event: GuestEvent,
  EventTarget: GuestEventTarget,
  FormData: GuestFormData,
  Headers: GuestHeaders,
};
for (const name of Object.keys(STATIC_GLOBALS)) {
  const value = STATIC_GLOBALS[name];
  Object.defineProperty(value, 'name', { value: name, configurable: true });
  defineGlobal(name, value);
}
Object.defineProperty(GuestResponse, 'name', { value: 'Response', configurable: true });
defineGlobal('__headwaterBoot', bootGuest);
