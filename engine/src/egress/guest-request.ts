import { type AccountLimits, type ExceededLimit, LIMITS } from '@headwater/shared';
import type { FetchRequest } from '@headwater/sandbox-runtime';
import { LONG_EGRESS_HOST, longHostOf } from './long-host.ts';
import { USER_AGENT } from './user-agent.ts';

/** A guest's request after validation: what one hop sends. */
export interface HopRequest {
  url: URL;
  method: string;
  headers: [string, string][];
  body: Uint8Array | undefined;
}

/** `plain`: the message without anything that was given. */
interface Refusal {
  ok: false;
  message: string;
  plain: string;
  limit?: ExceededLimit;
}

export type PreparedRequest = { ok: true; request: HopRequest } | Refusal;

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// Field values: visible characters, spaces, tabs and bytes above ASCII. No CR, LF or NUL: they
// would start a header of their own.
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const NORMALISED_METHODS = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH']);
const FORBIDDEN_METHODS = new Set(['CONNECT', 'TRACE', 'TRACK']);

/**
 * Framing and the connection are made here; libraries set these out of habit, so they are left out
 * without an error.
 */
const OWN_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Validates what came out of the sandbox. Nothing of it is trusted: the guest's own fetch may have
 * been replaced.
 */
export function prepareRequest(request: FetchRequest, limits: AccountLimits): PreparedRequest {
  const { maxFetchUrlChars } = LIMITS;
  if (request.url.length > maxFetchUrlChars) {
    const limit: ExceededLimit = { name: 'maxFetchUrlChars', value: maxFetchUrlChars, used: request.url.length };
    return { ...refuse(`The URL is longer than ${maxFetchUrlChars} characters`), limit };
  }
  const longHost = longHostOf(request.url);
  if (longHost !== undefined) return { ...refuse(LONG_EGRESS_HOST), limit: longHost };
  const url = URL.parse(request.url);
  if (url === null) return refuse(`${JSON.stringify(request.url)} is not an absolute URL`, 'The URL is not absolute');
  if (url.username !== '' || url.password !== '') {
    return refuse('The URL holds a user name or password: send them in an authorization header');
  }
  const method = NORMALISED_METHODS.has(request.method.toUpperCase()) ? request.method.toUpperCase() : request.method;
  if (!TOKEN.test(method) || FORBIDDEN_METHODS.has(method.toUpperCase())) {
    return refuse(`${JSON.stringify(method)} is not a method that can be requested`, 'The method cannot be requested');
  }
  const body = request.body !== undefined && request.body.byteLength > 0 ? request.body : undefined;
  if (body !== undefined && (method === 'GET' || method === 'HEAD'))
    return refuse(`A ${method} request cannot have a body`);
  const value = limits.maxFetchRequestBytes;
  if (body !== undefined && body.byteLength > value) {
    const limit: ExceededLimit = { name: 'maxFetchRequestBytes', value, used: body.byteLength };
    return { ...refuse(`The request body is larger than ${value} bytes`), limit };
  }
  const tooLarge = findTooLarge(request.headers);
  if (tooLarge !== undefined) return tooLarge;
  const headers = prepareHeaders(request.headers, url);
  return 'ok' in headers ? headers : { ok: true, request: { url, method, headers, body } };
}

/** Before any of them is looked at: that takes time for each line and each character. */
function findTooLarge(given: readonly [string, string][]): Refusal | undefined {
  const { maxFetchHeaders, maxFetchHeaderBytes } = LIMITS;
  if (given.length > maxFetchHeaders) {
    const limit: ExceededLimit = { name: 'maxFetchHeaders', value: maxFetchHeaders, used: given.length };
    return { ...refuse(`There are more than ${maxFetchHeaders} headers`), limit };
  }
  const used = given.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (used <= maxFetchHeaderBytes) return undefined;
  const limit: ExceededLimit = { name: 'maxFetchHeaderBytes', value: maxFetchHeaderBytes, used };
  return { ...refuse(`The headers are larger than ${maxFetchHeaderBytes} bytes`), limit };
}

/** The headers to send, names in lower case, or the fault of one. */
function prepareHeaders(given: readonly [string, string][], url: URL): [string, string][] | Refusal {
  const headers: [string, string][] = [];
  for (const [rawName, rawValue] of given) {
    const name = rawName.toLowerCase();
    const value = withoutOuterSpace(rawValue);
    if (!TOKEN.test(name)) {
      return refuse(`${JSON.stringify(rawName)} is not a header name`, 'A header has an invalid name');
    }
    if (!FIELD_VALUE.test(value)) {
      const what = 'holds characters that a header cannot have';
      return refuse(`The value of the header ${name} ${what}`, `The value of a header ${what}`);
    }
    if (name === 'host' && value.toLowerCase() !== url.host)
      return refuse('The host header follows from the URL and cannot be set');
    if (name !== 'host' && !OWN_HEADERS.has(name)) headers.push([name, value]);
  }
  addDefault(headers, 'user-agent', USER_AGENT);
  addDefault(headers, 'accept', '*/*');
  addDefault(headers, 'accept-encoding', 'gzip, deflate, br');
  return headers;
}

/**
 * By hand: a pattern that ends in `+$` looks at a stretch of spaces in the middle once from each of
 * them.
 */
function withoutOuterSpace(value: string): string {
  let [from, to] = [0, value.length];
  while (from < to && isSpace(value[from])) from += 1;
  while (from < to && isSpace(value[to - 1])) to -= 1;
  return value.slice(from, to);
}

const isSpace = (char: string | undefined): boolean => char === ' ' || char === '\t' || char === '\n' || char === '\r';

function addDefault(headers: [string, string][], name: string, value: string): void {
  if (!headers.some(([known]) => known === name)) headers.push([name, value]);
}

function refuse(message: string, plain: string = message): Refusal {
  return { ok: false, message, plain };
}
