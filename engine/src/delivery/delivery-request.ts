import type { KeyObject } from 'node:crypto';
import { USER_AGENT } from '../egress/user-agent.ts';
import type { DueDelivery } from './due-delivery.ts';
import { messageId, signatures } from './sign.ts';

/** `type` of an envelope around an event of the default channel, which has no name. */
const DEFAULT_TYPE = 'event.emitted';

/**
 * What is sent. `raw`: the emitted JSON text and nothing else. `envelope`: `{ type, timestamp, data }` with the channel's
 * name (`event.emitted` for the default channel) as type, the event's `ts`, or else the moment it was indexed, as ISO 8601
 * timestamp, and the emitted JSON text spliced in as data, so that numbers arrive digit for digit as they were emitted.
 */
export function deliveryBody(delivery: DueDelivery): string {
  if (delivery.format === 'raw') return delivery.data;
  const type = delivery.channel === '' ? DEFAULT_TYPE : delivery.channel;
  return `{"type":${JSON.stringify(type)},"timestamp":"${timestampOf(delivery)}","data":${delivery.data}}`;
}

/** Headers and signing keys of a webhook's requests. */
export interface RequestParts {
  /** The newest first. */
  keys: readonly KeyObject[];
  /**
   * Names in lower case. They come before our own, of which they may replace `content-type` and
   * `user-agent`.
   */
  ownHeaders: readonly (readonly [name: string, value: string])[];
}

/**
 * Header names and values, alternating. `webhook-*` as Standard Webhooks has it; `headwater-channel` only for events of a
 * named channel, percent-encoded where it holds what a header cannot; `headwater-attempt` counts
 * from 1; `headwater-test` is there only in a test by the webhook's owner, `headwater-replay-id` only in a replay of past events.
 */
export function deliveryHeaders(
  delivery: DueDelivery,
  { keys, ownHeaders }: RequestParts,
  body: Uint8Array,
  nowMs: number,
): string[] {
  const id = messageId(delivery.emitterId, delivery.indexedAtMs, delivery.seq);
  const timestampSeconds = Math.floor(nowMs / 1_000);
  const headers = [
    ...new Map([['content-type', 'application/json'], ['user-agent', USER_AGENT], ...ownHeaders]).entries(),
  ].flat();
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

// An author's `ts` may be any integer; beyond ±8.64e15 there is no date.
function timestampOf(delivery: DueDelivery): string {
  const date = new Date(delivery.ts ?? delivery.indexedAtMs);
  return (Number.isNaN(date.getTime()) ? new Date(delivery.indexedAtMs) : date).toISOString();
}
