import type { TransformAnswer } from '@headwater/sandbox-runtime';
import { platformLimit } from '@headwater/shared';
import { storableText } from '../../events/index.ts';
import { deliveryContent } from '../transports/webhook/delivery-content.ts';
import type { DueDelivery } from '../deliveries/due-delivery.ts';
import { headerFaults } from '../webhooks/validate-webhook-request.ts';

/**
 * A request as a transform sees and changes it: without the webhook's own headers and its proof.
 */
export interface TransformedRequest {
  method: string;
  /** With the query. */
  path: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: string;
}

export type TransformResult =
  | {
      kind: 'sent';
      url: string;
      request: TransformedRequest;
      /** Names in lower case, in order; null removes one. */
      changedHeaders: readonly (readonly [name: string, value: string | null])[];
    }
  | { kind: 'dropped'; reason: string }
  | { kind: 'failed'; error: string };

const TRANSFORM_METHODS = ['POST', 'PUT', 'PATCH'];
const MAX_REASON_CHARS = 1_000;
const MAX_SHOWN_CHARS = 64;

export function requestBefore(delivery: DueDelivery): TransformedRequest {
  const { body, contentType, headers } = deliveryContent(delivery);
  const { pathname, search } = new URL(delivery.url);
  const named = new Map([['content-type', contentType]]);
  for (let i = 0; i + 1 < headers.length; i += 2) named.set(headers[i] ?? '', headers[i + 1] ?? '');
  const method = delivery.settings?.options?.method ?? 'POST';
  return { method, path: pathname + search, headers: Object.fromEntries(named), body };
}

/** The body is JSON in each format, and is not parsed in the node. */
export function transformInput(delivery: DueDelivery, { body, ...head }: TransformedRequest): string {
  const { emitterId, indexedAtMs, seq, channel, ts } = delivery;
  const event = {
    id: `${indexedAtMs}-${seq}`,
    emitter_id: emitterId,
    channel,
    timestamp_ms: ts ?? indexedAtMs,
  };
  return `${JSON.stringify({ ...head, event }).slice(0, -1)},"body":${body}}`;
}

/**
 * The request as the answer changes it. The answer comes from the sandbox, and everything is
 * checked.
 */
export function applyTransform(
  { url }: DueDelivery,
  before: TransformedRequest,
  { drop, method = before.method, path, headers, body = before.body }: TransformAnswer,
): TransformResult {
  if (drop !== undefined)
    return { kind: 'dropped', reason: storableText(drop.slice(0, MAX_REASON_CHARS).toWellFormed()) };
  if (!TRANSFORM_METHODS.includes(method))
    return failed(`method must be ${TRANSFORM_METHODS.join(', ')}, not ${shown(method)}`);
  const target = path === undefined ? url : below(url, path);
  if (target === undefined) return failed('path must begin with / and be at most 2048 characters long');
  const changedHeaders = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
  const set = changedHeaders.filter((header): header is readonly [string, string] => header[1] !== null);
  const [fault] = headerFaults(Object.fromEntries(set), { mayDescribe: true });
  if (fault !== undefined) return failed(`headers${fault[0] === '' ? '' : `.${shown(fault[0])}`} ${fault[1].message}`);
  const named = new Map(Object.entries(before.headers));
  for (const [name, value] of changedHeaders)
    if (value === null) named.delete(name);
    else named.set(name, value);
  const { pathname, search } = new URL(target);
  const request = { method, path: pathname + search, headers: Object.fromEntries(named), body: body.toWellFormed() };
  return { kind: 'sent', url: target, request, changedHeaders };
}

function failed(what: string): TransformResult {
  return { kind: 'failed', error: `What the transform returns cannot be sent: ${what}` };
}

/** The path cannot change the webhook's origin. */
function below(url: string, path: string): string | undefined {
  const { used, value } = platformLimit('maxUrlChars', path.length);
  if (!path.startsWith('/') || used > value) return undefined;
  const { origin } = new URL(url);
  const target = URL.parse(origin + path);
  if (target === null || target.origin !== origin) return undefined;
  target.hash = '';
  return target.href;
}

const shown = (text: string) => storableText(text.slice(0, MAX_SHOWN_CHARS).toWellFormed());
