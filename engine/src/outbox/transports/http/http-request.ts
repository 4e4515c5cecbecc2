import { type FetchRequest, SENT_BYTES } from '@headwater/sandbox-runtime';
import { type Fault, LIMITS, platformLimit, type PlatformLimitName } from '@headwater/shared';
import { hasLongHost, LONG_EGRESS_HOST, longHostOf } from '../../../egress/index.ts';
import { isObject, type Read, readPayload } from '../read-payload.ts';

const FORM = 'application/x-www-form-urlencoded';

/**
 * The request that a payload of `$.send.http` describes, in axios' terms. It may have `url`,
 * `method` (GET, or POST with data), `params`, `headers`, `data` and `auth`. A string in `data` is
 * sent as it is, any other value as JSON, or as a form if the content type says so. Other names are
 * ignored. prepareRequest checks the URL and the headers.
 */
export async function readHttpRequest(json: string): Promise<Read<FetchRequest>> {
  const payload = await readPayload(json, {
    parsed: ['url', 'method', 'params', 'headers', 'auth'],
    raw: ['data', SENT_BYTES],
  });
  if (!payload.ok) return payload;
  const { url, method, params, headers, data, auth } = payload.value;
  const fault = findFault(payload.value);
  if (fault !== undefined) return { ok: false, ...fault };
  const wrong = Object.entries(headers ?? {}).find(([, value]) => isObject(value));
  if (wrong !== undefined) {
    const message = `The header ${JSON.stringify(wrong[0])} must be a string`;
    return { ok: false, message, plain: 'A header must be a string' };
  }
  const given = pairsOf(headers).filter(([name]) => auth === undefined || name.toLowerCase() !== 'authorization');
  const contentType = given.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  const bytes = payload.value[SENT_BYTES];
  const read = bytes === undefined ? readBody(data, contentType) : readBytes(bytes);
  if (!read.ok) return read;
  const body = read.value;
  const sent = [...given, ...basicAuth(auth)];
  if (body?.type !== undefined && contentType === undefined) sent.push(['content-type', body.type]);
  return {
    ok: true,
    value: {
      url: withParams(String(url), params),
      method: typeof method === 'string' ? method.toUpperCase() : body === undefined ? 'GET' : 'POST',
      headers: sent,
      redirect: 'follow',
      ...(body === undefined ? {} : { body: body.content }),
    },
  };
}

/** A URL as long as it may be, each character of it as an escape. */
const MAX_HEAD_CHARS = 6 * LIMITS.maxFetchUrlChars + 16;
/** As the guest writes it. */
const URL_FIRST = /^\{"url":("(?:[^"\\]|\\.)*")[,}]/;

/**
 * Undefined where there is no URL to be read. The rest, which may take half a second, is left
 * alone: it is asked several times for each send.
 */
export function hostOf(json: string): string | undefined {
  const [, urlJson] = URL_FIRST.exec(json.slice(0, MAX_HEAD_CHARS)) ?? [];
  const url: unknown = urlJson === undefined ? undefined : JSON.parse(urlJson);
  return typeof url === 'string' && !hasLongHost(url) ? URL.parse(url)?.host : undefined;
}

/** The messages repeat no given values. */
function findFault(given: Partial<Record<string, unknown>>): Fault | undefined {
  const { url } = given;
  const longHost = typeof url === 'string' ? longHostOf(url) : undefined;
  if (longHost !== undefined) return { message: LONG_EGRESS_HOST, limit: longHost };
  const message = findMistake(given);
  if (message !== undefined) return { message };
  const headers = (given['headers'] ?? {}) as Record<string, unknown>;
  const params = (given['params'] ?? {}) as Record<string, unknown>;
  const lines = Object.values(headers).reduce<number>((sum, value) => sum + linesOf(value), 0);
  return (
    excess('maxFetchHeaders', lines, (max) => `There are more than ${max} headers`) ??
    excess('maxFetchHeaderBytes', nameCharsOf(headers), (max) => `The headers are larger than ${max} bytes`) ??
    excess('maxFetchUrlChars', nameCharsOf(params), (max) => `The URL is longer than ${max} characters with its params`)
  );
}

function excess(name: PlatformLimitName, used: number, messageOf: (max: number) => string): Fault | undefined {
  const limit = platformLimit(name, used);
  return used > limit.value ? { message: messageOf(limit.value), limit } : undefined;
}

function findMistake({ url, method, params, headers, auth }: Partial<Record<string, unknown>>): string | undefined {
  if (typeof url !== 'string' || !/^https?:/i.test(url) || !URL.canParse(url))
    return 'url must be an http or https URL';
  if (method !== undefined && typeof method !== 'string') return 'method must be a string';
  if (params !== undefined && !isObject(params)) return 'params must be an object';
  if (headers !== undefined && !isObject(headers)) return 'headers must be an object';
  if (auth !== undefined && !isObject(auth)) return 'auth must be { username, password }';
  return undefined;
}

const linesOf = (value: unknown) => (Array.isArray(value) ? value.length : 1);

/**
 * Before any line is made: the product of a long name and a long list is as much text as V8 has
 * room for.
 */
function nameCharsOf(given: Record<string, unknown>): number {
  return Object.entries(given).reduce((sum, [name, value]) => sum + name.length * linesOf(value), 0);
}

function pairsOf(headers: unknown): [string, string][] {
  if (!isObject(headers)) return [];
  return Object.entries(headers).flatMap(([name, value]) => {
    if (value === null) return [];
    return (Array.isArray(value) ? value : [value]).map((one): [string, string] => [name, String(one)]);
  });
}

function basicAuth(auth: unknown): [string, string][] {
  if (!isObject(auth)) return [];
  const { username = '', password = '' } = auth;
  return [['authorization', `Basic ${Buffer.from(`${String(username)}:${String(password)}`).toString('base64')}`]];
}

const isForm = (contentType: string | undefined) => contentType?.toLowerCase().startsWith(FORM) === true;

interface Body {
  content: Uint8Array;
  /** Content type, used if no header has one. Absent: none is sent. */
  type?: string;
}

const textBody = (text: string, type: string) => ({ ok: true as const, value: { content: Buffer.from(text), type } });

/** `base64`: JSON text of a string. */
function readBytes(base64: string): Read<Body> {
  if (!/^"[A-Za-z0-9+/]*={0,2}"$/.test(base64)) return { ok: false, message: `${SENT_BYTES} must be base64` };
  return { ok: true, value: { content: Buffer.from(base64.slice(1, -1), 'base64') } };
}

/**
 * `data`: JSON text. Megabytes of it are sent unparsed, because parsing blocks the thread for half
 * a second.
 */
function readBody(data: string | undefined, contentType: string | undefined): Read<Body | undefined> {
  if (data === undefined || data === 'null') return { ok: true, value: undefined };
  if (data.startsWith('"')) return textBody(JSON.parse(data) as string, FORM);
  if (!isForm(contentType)) return textBody(data, 'application/json');
  const tooLong = excess('maxSendFormChars', data.length, longForm);
  if (tooLong !== undefined) return { ok: false, ...tooLong };
  const form: unknown = JSON.parse(data);
  if (!isObject(form)) return textBody(data, 'application/json');
  const longNames = excess('maxSendFormNameChars', nameCharsOf(form), longFormNames);
  if (longNames !== undefined) return { ok: false, ...longNames };
  return textBody(new URLSearchParams(queryOf(form)).toString(), FORM);
}

const longForm = (max: number) => `data is longer than ${max} characters as JSON, too long for a form`;
const longFormNames = (max: number) => `The names in the form have more than ${max} characters together`;

function withParams(url: string, params: unknown): string {
  if (!isObject(params)) return url;
  const target = new URL(url);
  for (const [name, value] of queryOf(params)) target.searchParams.append(name, value);
  return target.href;
}

/** Lists as axios writes them (`a[]=1&a[]=2`), objects as JSON, null left out. */
function queryOf(params: Record<string, unknown>): [string, string][] {
  return Object.entries(params).flatMap(([name, value]): [string, string][] => {
    if (value === null) return [];
    if (Array.isArray(value)) return value.map((one): [string, string] => [`${name}[]`, textOf(one)]);
    return [[name, textOf(value)]];
  });
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
