import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import { builtinModules, createRequire } from 'node:module';
import os from 'node:os';
import zlib from 'node:zlib';
import { UNAVAILABLE_NAMES } from '../guest/builtin-names.ts';
import type { NodeFacts } from '../guest/node/node-facts.ts';

/** Modules that are available in part. The names of their missing exports are needed too. */
const PARTLY_AVAILABLE = ['net', 'dns', 'tls', 'cluster', 'vm'];

/** The constants and names of exports of the Node.js that runs this process, for the guest. */
export function readNodeFacts(): NodeFacts {
  const { node, v8, zlib: zlibVersion, openssl } = process.versions;
  const numbers = (constants: object): Record<string, number> => ({ ...(constants as Record<string, number>) });
  const names = [...UNAVAILABLE_NAMES, ...PARTLY_AVAILABLE];
  return {
    exports: Object.fromEntries(names.map((name) => [name, readExports(name)])),
    zlibConstants: numbers(zlib.constants),
    osConstants: os.constants as unknown as NodeFacts['osConstants'],
    fsConstants: numbers(fs.constants),
    cryptoConstants: crypto.constants as unknown as NodeFacts['cryptoConstants'],
    httpMethods: http.METHODS,
    statusCodes: http.STATUS_CODES as Record<string, string>,
    version: process.version,
    versions: { node, v8, zlib: zlibVersion, openssl },
    builtinModules: builtinModules.filter((name) => !name.startsWith('_')),
  };
}

/**
 * Not loaded here: `wasi` prints a warning, and with `domain`, which `repl` loads, every new
 * emitter of the process, each socket too, takes five times as long.
 */
const KNOWN_FUNCTIONS: Readonly<Record<string, string[]>> = {
  wasi: ['WASI'],
  domain: ['Domain', 'createDomain', 'create'],
  repl: ['start', 'writer', 'REPLServer', 'Recoverable', 'isValidSyntax'],
};

function readExports(name: string): { functions: string[]; values: Record<string, unknown> } {
  const known = KNOWN_FUNCTIONS[name];
  if (known !== undefined) return { functions: known, values: {} };
  const exported = createRequire(import.meta.url)(`node:${name}`) as Record<string, unknown>;
  const functions: string[] = [];
  const values: Record<string, unknown> = {};
  for (const key of Object.keys(exported).filter((candidate) => !candidate.startsWith('_'))) {
    const value = exported[key];
    if (typeof value === 'function') functions.push(key);
    else if (['string', 'number', 'boolean'].includes(typeof value) || key === 'constants') values[key] = value;
  }
  return { functions, values };
}
