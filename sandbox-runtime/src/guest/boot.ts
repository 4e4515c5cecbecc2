// oxlint-disable import/no-unassigned-import -- core-js installs what its modules are named after
import './complete-symbols.ts';
import { Buffer } from 'buffer/';
import type { AskOnce, BlockingReference, Bridge, PostValues } from './bridge.ts';
import { connectBridge } from './bridge-slot.ts';
import { BASE64_GLOBALS } from './base64-globals.ts';
import { BUILTIN_FUNCTION } from './builtin-names.ts';
import { makeBuiltins } from './builtins.ts';
import { cloneValue } from './clone-value.ts';
import { makeConsole, RunLog } from './console.ts';
import { crossing } from './crossing.ts';
import { completeDomException } from './dom-exception.ts';
import { GuestFetch } from './fetch.ts';
import { Guest, type GuestParts } from './guest.ts';
import { HostCalls } from './host-calls.ts';
import { completeWebInspect } from './inspect-web.ts';
import { decodeCall, encodeAsk } from './isolate-codec.ts';
import { applyFunction, defineGlobal, now, whenSettled } from './intrinsics.ts';
import { guardPosts } from './post-guard.ts';
import { GuestPerformance } from './performance.ts';
import { completeBuffer, speedUpBuffer } from './node/buffer.ts';
import { invalidArgument } from './node/errors.ts';
import { giveNames } from './node/give-names.ts';
import { completeEvents } from './node/events.ts';
import { completeStreams } from './node/stream.ts';
import { makeProcess } from './process-object.ts';
import { RawRequests } from './raw-requests.ts';
import type { RequestInit } from './request.ts';
import { RunTracker } from './run-context.ts';
import { mapStacks } from './stack-trace.ts';
import { GuestTimers } from './timers.ts';
import { trimLanguage } from './trim-language.ts';
import { makeWebCrypto } from './web-crypto.ts';
import { WEB_CLASSES } from './web-globals.ts';

/*
 * Evaluated once per sandbox process into a V8 snapshot; every isolate starts from it and calls the
 * function below. Only data and classes may exist at this point: nothing of the bridge, no time, no
 * randomness.
 */

type Dispatch = (code: number, run: number, a: unknown, b: unknown, c: unknown, d: unknown) => string | undefined;

// Memory of these is not counted by the isolate's limit, or opens a clock fine enough to read other
// processes by.
const REMOVED = ['WebAssembly', 'SharedArrayBuffer', 'Atomics'] as const;

function bootGuest(post: PostValues, askOnce: AskOnce, dbGet: BlockingReference, wait: BlockingReference): Dispatch {
  for (const name of REMOVED) Reflect.deleteProperty(globalThis, name);
  const blockingCall = dbGet.applySyncPromise;
  const runs = new RunTracker();
  const guarded = guardPosts(post, runs);
  const pass = askOnce as (...values: unknown[]) => ReturnType<AskOnce>;
  const send: AskOnce = (code, a, b, c) => pass(code, crossing(a), crossing(b), crossing(c));
  const bridge: Bridge = {
    post: guarded.post,
    ask: (question) => {
      for (;;) {
        const answer = encodeAsk(question, send);
        if (answer !== undefined) return answer;
        applyFunction(blockingCall, wait, [undefined, []]);
      }
    },
    dbGet: (run, key) => applyFunction(blockingCall, dbGet, [undefined, [run, key]]) as string,
  };
  const log = new RunLog(bridge, runs);
  const timers = new GuestTimers(bridge, runs);
  connectBridge(bridge);
  mapStacks(bridge);
  const fetches = new GuestFetch(bridge, runs);
  const calls = new HostCalls(bridge, runs);
  const requests = new RawRequests(bridge, runs);
  const parts = { bridge, runs, log, timers, fetches, calls, requests };
  const guest = new Guest(parts);
  installGlobals(parts, guest);
  speedUpBuffer(bridge);
  return (code, run, a, b, c, d) => {
    guarded.reset();
    const call = decodeCall(code, a, b, c, d);
    return call && guest.dispatch(run, call);
  };
}

function installGlobals({ bridge, runs, log, timers, fetches, calls, requests }: GuestParts, guest: Guest): void {
  const webCrypto = makeWebCrypto((head, bytes) => calls.call(head, bytes));
  const timerGlobals = timers.globals();
  const getBuiltin = makeBuiltins({
    bridge,
    runs,
    requests,
    webCrypto,
    textClasses: { TextEncoder: WEB_CLASSES['TextEncoder'], TextDecoder: WEB_CLASSES['TextDecoder'] },
    timers: timerGlobals,
    process: () => process,
  });
  const process = makeProcess({
    nextTick: (callback, ...args) => whenSettled(undefined, () => guest.runCallback(callback, args), ignore),
    getBuiltin,
    warn: (message) => log.write(runs.current(), 'warn', message),
  });
  const globals: Record<string, unknown> = {
    console: makeConsole(log, runs),
    ...timerGlobals,
    fetch: (input: unknown, init?: RequestInit) => fetches.fetch(input, init),
    crypto: webCrypto,
    process,
    performance: new GuestPerformance(now()),
    queueMicrotask: (callback: () => unknown) => queueTask(guest, callback),
    global: globalThis,
    [BUILTIN_FUNCTION]: getBuiltin,
  };
  for (const name of Object.keys(globals)) defineGlobal(name, globals[name]);
  giveNames('console', console);
  Object.defineProperty(console, Symbol.toStringTag, { value: 'console', configurable: true });
}

function queueTask(guest: Guest, callback: unknown): void {
  if (typeof callback !== 'function') throw invalidArgument('callback', 'of type function', callback);
  whenSettled(undefined, () => guest.runCallback(callback as () => unknown, []), ignore);
}

function ignore(): void {}

for (const name of Object.keys(WEB_CLASSES)) defineGlobal(name, WEB_CLASSES[name]);
for (const [name, work] of Object.entries(BASE64_GLOBALS)) defineGlobal(name, work);
defineGlobal('structuredClone', cloneValue);
trimLanguage();
completeDomException();
completeEvents();
completeStreams();
completeBuffer();
completeWebInspect();
defineGlobal('Buffer', Buffer);
// Steps usually call it for their editor's types. It returns its argument, the component.
defineGlobal('defineComponent', (component: unknown) => component);
defineGlobal('__headwaterBoot', bootGuest);
