import { toText } from './intrinsics.ts';
import { isObjectValue } from './resolve-prop.ts';
import type { RequestInit } from './request.ts';

/*
 * The configured value of an http_request prop: `{ method, url, params, headers, body, auth }`.
 * Names and values come as a form's rows (`[{ name, value, disabled }]`, also below `fields`) or as
 * plain objects, one or several.
 */

type Pairs = [name: string, value: unknown][];

export interface ReadRequest {
  url: string;
  init: RequestInit & { method: string };
}

/** Throws TypeError if the configuration cannot become a request. */
export function readRequestConfig(configured: unknown): ReadRequest {
  const request = isObjectValue(configured) ? configured : {};
  const method = toText(request['method'] ?? 'GET').toUpperCase();
  const headers = new Headers();
  for (const [name, value] of readPairs(request['headers'])) headers.append(name, textOf(value));
  const authorization = readAuthorization(request['auth']);
  if (authorization !== undefined) headers.set('authorization', authorization);
  const init: ReadRequest['init'] = { method, headers };
  if (method !== 'GET' && method !== 'HEAD') {
    const { content, contentType } = readContent(request['body'] ?? request['data']);
    if (content !== undefined) init.body = content;
    if (contentType !== undefined && !headers.has('content-type')) headers.set('content-type', contentType);
  }
  return { url: readUrl(request), init };
}

function readUrl(request: Record<string, unknown>): string {
  const given = typeof request['url'] === 'string' ? request['url'].trim() : '';
  if (given === '') throw new TypeError('The HTTP request is not configured: it has no url');
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `https://${given}`;
  if (!URL.canParse(text)) throw new TypeError(`The HTTP request has an invalid url: ${given.slice(0, 200)}`);
  const url = new URL(text);
  for (const [name, value] of readPairs(request['params'] ?? request['query']))
    url.searchParams.append(name, textOf(value));
  return url.href;
}

function readPairs(given: unknown): Pairs {
  if (Array.isArray(given)) return given.flatMap((entry) => readEntry(entry));
  if (!isObjectValue(given)) return [];
  return Array.isArray(given['fields']) ? readPairs(given['fields']) : definedPairs(given);
}

/** A row without a name is one that was never filled in. */
function readEntry(entry: unknown): Pairs {
  if (!isObjectValue(entry) || entry['disabled'] === true) return [];
  const name = entry['name'] ?? entry['key'];
  if (typeof name !== 'string' || !Object.hasOwn(entry, 'value')) return definedPairs(entry);
  return name.trim() === '' ? [] : [[name.trim(), entry['value']]];
}

function definedPairs(given: Record<string, unknown>): Pairs {
  return Object.entries(given).filter(([, value]) => value !== undefined && value !== null);
}

interface Content {
  content?: string | FormData;
  contentType?: string;
}

function readContent(body: unknown): Content {
  if (body === undefined || body === null || body === '') return {};
  if (typeof body === 'string') return { content: body };
  if (!isObjectValue(body)) return json(body);
  const { type, mode, raw, fields, contentType } = body;
  const named = typeof contentType === 'string' && contentType.includes('/') ? { contentType } : {};
  const isRaw = type === 'raw' || mode === 'raw' || (typeof raw === 'string' && !Array.isArray(fields));
  if (isRaw) return raw === undefined || raw === null || raw === '' ? {} : { content: textOf(raw), ...named };
  // A body without the fields of a form is the content itself.
  if (fields === undefined && contentType === undefined && type === undefined && mode === undefined) return json(body);
  const pairs = readPairs(fields);
  return pairs.length === 0 ? {} : encode(pairs, named.contentType ?? 'application/json');
}

function encode(pairs: Pairs, contentType: string): Content {
  if (contentType.startsWith('multipart/form-data')) {
    const form = new FormData();
    for (const [name, value] of pairs) form.append(name, textOf(value));
    // The type goes with its boundary, which is not known here.
    return { content: form };
  }
  if (contentType.startsWith('application/x-www-form-urlencoded')) {
    const search = new URLSearchParams();
    for (const [name, value] of pairs) search.append(name, textOf(value));
    return { content: search.toString(), contentType };
  }
  return { content: JSON.stringify(Object.fromEntries(pairs)), contentType };
}

function json(value: unknown): Content {
  return { content: JSON.stringify(value), contentType: 'application/json' };
}

function readAuthorization(auth: unknown): string | undefined {
  if (!isObjectValue(auth)) return undefined;
  const { type, username, password, token } = auth;
  const kind = type ?? (username === undefined ? 'none' : 'basic');
  if (kind === 'none') return undefined;
  if (kind === 'bearer') return `Bearer ${textOf(token ?? '')}`;
  if (kind !== 'basic')
    throw new TypeError(`The HTTP request has an auth of type '${textOf(kind)}'; known are none, basic and bearer`);
  return `Basic ${Buffer.from(`${textOf(username ?? '')}:${textOf(password ?? '')}`, 'utf8').toString('base64')}`;
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : toText(value);
}
