import { type EmittedEvent, type ExceededLimit, type HttpResponse, LIMITS } from '@headwater/shared';
import type { DataStoreCall, FetchRequest } from '../sandbox-types.ts';
import { FrameError } from './frames.ts';
import { isRunLimit } from './run-limit-names.ts';

/*
 * Readers of the small JSON heads in messages from a sandbox process. Written by hand: they run for
 * every event, and take a quarter of the time of a schema library. Only the named fields are taken
 * over.
 */

/** Longer than any run: these numbers go into the record of the run. */
const MAX_DURATION_MS = 24 * 3600 * 1000;
/**
 * The first and the last moment of a Date, from 1970 on; the database has room for these, and not
 * for every number.
 */
const MAX_MOMENT_MS = 8.64e15;
const METHOD = token(LIMITS.maxFetchMethodChars);
const HEADER_NAME = token(LIMITS.maxHeaderNameChars);
/** Characters that a header value must not contain: they would end the line. */
const LINE_BREAKS = /[\0\r\n]/;

export function readEmitMeta(json: string): Omit<EmittedEvent, 'data'> {
  const { id, name, summary, ts, emittedAtMs } = readHeadMembers(json, ['id', 'name', 'summary', 'ts', 'emittedAtMs']);
  const meta: Omit<EmittedEvent, 'data'> = { emittedAtMs: moment(emittedAtMs, 'emittedAtMs') };
  if (typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id))) meta.id = id;
  else if (id !== undefined) throw new FrameError('An event id of the wrong type');
  if (name !== undefined) meta.name = string(name, 'name');
  if (summary !== undefined) meta.summary = string(summary, 'summary');
  if (ts !== undefined) meta.ts = moment(ts, 'ts');
  return meta;
}

export function readResponseHead(json: string): Omit<HttpResponse, 'body'> {
  const { status, headers } = readHeadMembers(json, ['status', 'headers']);
  if (!Number.isInteger(status) || (status as number) < 100 || (status as number) > 599) {
    throw new FrameError('An invalid response status');
  }
  const checked: HttpResponse['headers'] = {};
  const cookies: string[] = [];
  for (const [name, value] of readResponseHeaders(headers)) {
    if (name.toLowerCase() === 'set-cookie') cookies.push(value);
    else checked[name] = value;
  }
  if (cookies.length > 0) checked['set-cookie'] = cookies;
  return { status: status as number, headers: checked };
}

export function readFetchHead(json: string): Omit<FetchRequest, 'body'> {
  const head = readHeadMembers(json, ['url', 'method', 'redirect', 'headers']);
  const method = string(head['method'], 'method');
  const redirect = head['redirect'];
  if (!METHOD.test(method)) throw new FrameError('An invalid request method');
  if (redirect !== 'follow' && redirect !== 'error' && redirect !== 'manual')
    throw new FrameError('An unknown redirect mode');
  return { url: string(head['url'], 'url'), method, redirect, headers: readHeaders(head['headers']) };
}

const STORE_OPS: readonly DataStoreCall['op'][] = ['get', 'set', 'delete', 'has', 'keys', 'entries', 'clear'];

export function readDataStoreCall(json: string): Omit<DataStoreCall, 'valueJson'> {
  const head = readHeadMembers(json, ['storeId', 'op', 'key', 'ttlSeconds', 'cursor']);
  const op = STORE_OPS.find((known) => known === head['op']);
  if (op === undefined) throw new FrameError('An unknown operation on a data store');
  const call: Omit<DataStoreCall, 'valueJson'> = { storeId: string(head['storeId'], 'storeId'), op };
  const { key, ttlSeconds, cursor } = head;
  if (key !== undefined) call.key = string(key, 'key');
  if (ttlSeconds !== undefined) call.ttlSeconds = finite(ttlSeconds, 'ttlSeconds');
  if (cursor !== undefined) call.cursor = string(cursor, 'cursor');
  return call;
}

export interface OutcomeHead<Code extends string> {
  cpuMs: number;
  wallMs: number;
  code?: Code;
  innocent: boolean;
  limit?: ExceededLimit;
}

export function readOutcomeHead<Code extends string>(json: string, codes: readonly Code[]): OutcomeHead<Code> {
  const head = parse(json);
  if (!Array.isArray(head)) throw new FrameError('An outcome without a head');
  const [cpuMs, wallMs, code, innocent, ...limit] = head as unknown[];
  const read: OutcomeHead<Code> = {
    cpuMs: duration(cpuMs, 'cpuMs'),
    wallMs: duration(wallMs, 'wallMs'),
    innocent: innocent === true,
  };
  if (code === undefined) return read;
  const known = codes.find((candidate) => candidate === code);
  if (known === undefined) throw new FrameError('An outcome with a code that a run cannot have');
  const exceeded = readLimit(limit);
  return exceeded === undefined ? { ...read, code: known } : { ...read, code: known, limit: exceeded };
}

// JSON has null for absent values.
function readLimit([name, value, used]: unknown[]): ExceededLimit | undefined {
  if (name === undefined || name === null) return undefined;
  if (!isRunLimit(name)) throw new FrameError('An unknown limit');
  return { name, value: finite(value, 'limit'), used: finite(used, 'use') };
}

/**
 * Writing an answer costs time for each line and character. So the header limits of requests apply
 * to it.
 */
function readResponseHeaders(value: unknown): [string, string][] {
  if (Array.isArray(value) && value.length > LIMITS.maxFetchHeaders)
    throw new FrameError('An answer of too many headers');
  const headers = readHeaders(value);
  const chars = headers.reduce((sum, [name, text]) => sum + name.length + text.length, 0);
  if (chars > LIMITS.maxFetchHeaderBytes) throw new FrameError('An answer whose headers are too large');
  return headers;
}

function readHeaders(value: unknown): [string, string][] {
  if (!Array.isArray(value)) throw new FrameError('Headers that are not a list');
  return value.map((pair: unknown): [string, string] => {
    if (!Array.isArray(pair) || pair.length !== 2) throw new FrameError('A header that is not a pair');
    const name = string(pair[0], 'header');
    const text = string(pair[1], 'header');
    if (!HEADER_NAME.test(name) || LINE_BREAKS.test(text)) throw new FrameError('A header that would break its line');
    return [name, text];
  });
}

/**
 * Throws FrameError if the text is no JSON object, is longer than a head, or has other members.
 * Thousands of members in each head would take the node's whole thread, and no limit counts them.
 */
export function readHeadMembers(json: string, members: readonly string[]): Record<string, unknown> {
  const value = parse(json);
  if (typeof value !== 'object' || value === null) throw new FrameError('A head that is no object');
  for (const name of Object.keys(value))
    if (!members.includes(name)) throw new FrameError('A head with more than it has');
  return value as Record<string, unknown>;
}

function parse(json: string): unknown {
  if (json.length > LIMITS.maxHeadChars) throw new FrameError('A head over its limit');
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new FrameError('A head that is not JSON', { cause });
  }
}

function token(maxChars: number): RegExp {
  return new RegExp(`^[!#$%&'*+\\-.^_\`|~0-9A-Za-z]{1,${maxChars}}$`);
}

export function string(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new FrameError(`${what} is not a string`);
  return value;
}

function finite(value: unknown, what: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new FrameError(`${what} is not a number`);
  return value;
}

function moment(value: unknown, what: string): number {
  const ms = finite(value, what);
  if (!Number.isInteger(ms) || Math.abs(ms) > MAX_MOMENT_MS) throw new FrameError(`${what} is not a time`);
  return ms;
}

function duration(value: unknown, what: string): number {
  const ms = finite(value, what);
  if (ms < 0 || ms > MAX_DURATION_MS) throw new FrameError(`${what} is not a duration of a run`);
  return ms;
}
