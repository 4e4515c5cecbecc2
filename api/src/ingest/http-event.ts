import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { parse as parsePairs } from 'node:querystring';
import { isLongJson, isShortJson, LIMITS } from '@headwater/shared';
import { withoutPlus } from '../without-plus.ts';
import { bodyText } from './body-text.ts';
import type { EndpointAddress } from './endpoint-address.ts';
import { countUpTo, multipartJson } from './multipart.ts';

/** What workflows are told of a request besides. */
export interface ClientFacts {
  /** Of the connection: where a proxy is in front, its address. */
  clientIp: string | undefined;
  /** As the client wrote it, as far as that can be seen here. */
  url: string;
}

/** Behind a proxy that ends TLS the scheme is what it says it is. */
export function clientFactsOf(request: IncomingMessage): ClientFacts {
  const scheme = request.headers['x-forwarded-proto'] === 'https' ? 'https' : 'http';
  const path = request.url?.startsWith('/') === true ? request.url : '/';
  return { clientIp: request.socket.remoteAddress, url: `${scheme}://${request.headers.host ?? ''}${path}` };
}

/**
 * JSON text of the HttpEvent that `run` gets. It is put together from text: a JSON body is checked but not serialised
 * again, which saves a pass and keeps every digit of its numbers.
 */
export function httpEventJson(
  request: IncomingMessage,
  address: EndpointAddress,
  bytes: Buffer,
  client?: ClientFacts,
): string | Promise<string> {
  const facts =
    client === undefined
      ? ''
      : `,"client_ip":${JSON.stringify(client.clientIp ?? null)},"url":${JSON.stringify(client.url)}`;
  const head =
    `{"method":${JSON.stringify(request.method)},"path":${JSON.stringify(address.path)}` +
    `,"query":${pairsJson(address.query)},"headers":${headersJson(request.headers)}${facts}`;
  if (bytes.length === 0) return `${head},"bodyRaw":"","body":null}`;
  const contentType = request.headers['content-type'];
  const { text: raw, isBase64 } = bodyText(bytes, contentType);
  const rawJson = JSON.stringify(raw);
  const body = bodyJson(contentType, raw, rawJson, bytes);
  const end = isBase64 ? ',"isBase64Encoded":true}' : '}';
  const withBody = (json: string) => `${head},"bodyRaw":${rawJson},"body":${json}${end}`;
  return typeof body === 'string' ? withBody(body) : body.then(withBody);
}

function headersJson(headers: IncomingHttpHeaders): string {
  const cookies = headers['set-cookie'];
  // The only header that node gives as an array.
  return JSON.stringify(cookies === undefined ? headers : { ...headers, 'set-cookie': cookies.join(', ') });
}

/** `a=1&b=2&b=3` → `{"a":"1","b":["2","3"]}`. The parsed object has no prototype, so a name like `__proto__` is a name. */
function pairsJson(text: string): string {
  return text === '' ? '{}' : JSON.stringify(parsePairs(withoutPlus(text), '&', '=', { maxKeys: 0 }));
}

function bodyJson(
  contentType: string | undefined,
  raw: string,
  rawJson: string,
  bytes: Buffer,
): string | Promise<string> {
  const mediaType = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (mediaType === 'application/json' || mediaType.endsWith('+json') || mediaType === 'text/json') {
    return jsonOr(raw, rawJson);
  }
  if (mediaType === 'application/x-www-form-urlencoded') {
    return countUpTo(raw, '&', LIMITS.maxFormFields) < LIMITS.maxFormFields ? pairsJson(raw) : rawJson;
  }
  if (mediaType === 'multipart/form-data')
    return multipartJson(contentType ?? '', bytes).then((json) => json ?? rawJson);
  return rawJson;
}

/**
 * The text itself, where it is JSON; without the byte order mark that some senders put before it. A sender's mistake is the
 * component's to handle: it gets the string.
 */
function jsonOr(raw: string, rawJson: string): string | Promise<string> {
  const text = raw.charCodeAt(0) === 0xfeff ? raw.slice(1) : raw;
  const isShort = isShortJson(text);
  if (isShort === undefined) return isLongJson(text).then((isJson) => (isJson ? text : rawJson));
  return isShort ? text : rawJson;
}
