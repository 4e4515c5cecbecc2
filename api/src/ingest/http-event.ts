import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ClientFacts } from './client-facts.ts';
import type { EndpointAddress } from './endpoint-address.ts';
import { type EventBody, eventBody } from './event-body.ts';
import { formJson } from './form-pairs.ts';

/**
 * JSON text of the HttpEvent that `run` gets. It is put together from text: a JSON body is checked
 * but not serialised again, which saves a pass and keeps every digit of its numbers. Throws as
 * eventBody.
 */
export function httpEventJson(
  request: IncomingMessage,
  address: EndpointAddress,
  bytes: Buffer,
  { url, clientIp }: ClientFacts,
): string | Promise<string> {
  const head =
    `{"method":${JSON.stringify(request.method)},"path":${JSON.stringify(address.path)}` +
    `,"query":${formJson(Buffer.from(address.query))},"headers":${headersJson(request.headers)}` +
    (clientIp === undefined ? '' : `,"client_ip":${JSON.stringify(clientIp)}`) +
    `,"url":${JSON.stringify(url)},"rawQuery":${JSON.stringify(address.query)}`;
  if (bytes.length === 0) return `${head},"bodyRaw":"","body":null}`;
  const withBody = ({ rawJson, bodyJson, isBase64 }: EventBody) =>
    `${head},"bodyRaw":${rawJson},"body":${bodyJson}${isBase64 ? ',"isBase64Encoded":true}' : '}'}`;
  const body = eventBody(request.headers, bytes);
  return body instanceof Promise ? body.then(withBody) : withBody(body);
}

function headersJson(headers: IncomingHttpHeaders): string {
  const cookies = headers['set-cookie'];
  // The only header that node gives as an array.
  return JSON.stringify(cookies === undefined ? headers : { ...headers, 'set-cookie': cookies.join(', ') });
}
