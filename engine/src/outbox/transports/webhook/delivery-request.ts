import type { KeyObject } from 'node:crypto';
import { USER_AGENT } from '../../../egress/index.ts';
import type { DueDelivery } from '../../deliveries/due-delivery.ts';
import { messageId, signatures } from './sign.ts';

/** Headers and signing keys of a webhook's requests. */
export interface RequestParts {
  /** The newest first. */
  keys: readonly KeyObject[];
  /**
   * Names in lower case. They come before our own, of which they may replace `content-type` and
   * `user-agent`.
   */
  ownHeaders: readonly (readonly [name: string, value: string])[];
  /** By the transform, after the own ones; null removes one. Names in lower case. */
  changedHeaders?: readonly (readonly [name: string, value: string | null])[] | undefined;
  /** Own ones replace them. */
  traceHeaders?: readonly (readonly [name: string, value: string])[] | undefined;
  /** In the place of an own one. */
  authorization?: string | undefined;
}

/** Headers of the request's content: signed ones, and those that describe the content. */
interface Content {
  contentType: string;
  headers: readonly string[];
  body: Uint8Array;
}

/**
 * Header names and values, alternating.
 * - `webhook-*`: as in Standard Webhooks.
 * - `headwater-channel`: only for events of a named channel, percent-encoded if a header cannot
 *   hold it.
 * - `headwater-attempt`: counts from 1.
 * - `headwater-test`: only in a test by the webhook's owner.
 * - `headwater-replay-id`: only in a replay of past events.
 * - `traceparent`, `tracestate`: only for accounts that want traces passed on.
 */
export function deliveryHeaders(
  delivery: DueDelivery,
  { keys, ownHeaders, changedHeaders = [], traceHeaders = [], authorization }: RequestParts,
  { contentType, headers: contentHeaders, body }: Content,
  nowMs: number,
): string[] {
  const id = messageId(delivery.emitterId, delivery.indexedAtMs, delivery.seq);
  const timestampSeconds = Math.floor(nowMs / 1_000);
  const named = new Map([['content-type', contentType], ['user-agent', USER_AGENT], ...traceHeaders, ...ownHeaders]);
  for (let i = 0; i + 1 < contentHeaders.length; i += 2)
    named.set(contentHeaders[i] ?? '', contentHeaders[i + 1] ?? '');
  for (const [name, value] of changedHeaders)
    if (value === null) named.delete(name);
    else named.set(name, value);
  if (authorization !== undefined) named.set('authorization', authorization);
  const headers = [...named.entries()].flat();
  headers.push(
    'webhook-id',
    id,
    'webhook-timestamp',
    String(timestampSeconds),
    'webhook-signature',
    signatures(keys, { id, timestampSeconds, body }),
    'headwater-event-id',
    `${delivery.indexedAtMs}-${delivery.seq}`,
    'headwater-emitter-id',
    delivery.emitterId,
    'headwater-attempt',
    String(delivery.attemptCount + 1),
  );
  if (delivery.isTest) headers.push('headwater-test', 'true');
  if (delivery.replayId !== undefined) headers.push('headwater-replay-id', delivery.replayId);
  if (delivery.channel !== '') headers.push('headwater-channel', encodeChannel(delivery.channel));
  return headers;
}

// `$` is safe in a header and begins the built-in channels, which should be readable.
function encodeChannel(channel: string): string {
  return encodeURIComponent(channel.toWellFormed()).replaceAll('%24', '$');
}
