import * as bufferModule from 'buffer/';
import { EventEmitter } from 'events/';
import type { Bridge } from './bridge.ts';
import type { BuiltinName } from './builtin-names.ts';
import { makeNodeCrypto } from './node-crypto.ts';
import { makeNodeUrl, makeQuerystring } from './node-url.ts';
import { makeNodeUtil } from './node-util.ts';

export interface BuiltinParts {
  bridge: Bridge;
  webCrypto: Record<string, unknown>;
  textClasses: Record<string, unknown>;
  timers: Record<string, unknown>;
  process: Record<string, unknown>;
}

/** Hands out Node's modules by name, each made when it is first asked for and kept for the isolate's life. */
export function makeBuiltins(parts: BuiltinParts): (name: string) => unknown {
  const makers: Record<BuiltinName, () => unknown> = {
    buffer: () => ({ ...bufferModule, atob, btoa }),
    crypto: () => makeNodeCrypto(parts.bridge, parts.webCrypto),
    events: () => EventEmitter,
    process: () => parts.process,
    querystring: makeQuerystring,
    timers: () => parts.timers,
    url: () => makeNodeUrl(makeQuerystring()),
    util: () => makeNodeUtil(parts.textClasses),
  };
  const made = new Map<string, unknown>();
  return (name) => {
    if (!Object.hasOwn(makers, name)) throw new Error(`There is no builtin module '${name}'`);
    if (!made.has(name)) made.set(name, makers[name as BuiltinName]());
    return made.get(name);
  };
}
