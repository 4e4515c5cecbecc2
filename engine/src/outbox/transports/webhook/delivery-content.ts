import type { DueDelivery } from '../../deliveries/due-delivery.ts';

/** `type` of an envelope around an event of the default channel, which has no name. */
const DEFAULT_TYPE = 'event.emitted';

export interface DeliveryContent {
  body: string;
  contentType: string;
  /** Name, value, name, value … */
  headers: string[];
}

/**
 * The body that is sent. It contains the emitted JSON text unchanged, so that numbers arrive digit
 * for digit.
 * - `raw`: the emitted JSON text and nothing else.
 * - `envelope`: `{ type, timestamp, data }`. The type is the channel's name (`event.emitted` for
 *   the default channel). The timestamp is the event's `ts`, or else the time it was indexed, in
 *   ISO 8601.
 * - `cloudevents`: CloudEvents 1.0 in the structured mode of its HTTP binding.
 * - `cloudevents-binary`: in the binary mode: the body is that of `raw`, the rest is in headers.
 */
export function deliveryContent(delivery: DueDelivery): DeliveryContent {
  const { format, data } = delivery;
  const plain = { body: data, contentType: 'application/json', headers: [] };
  switch (format) {
    case 'raw':
      return plain;
    case 'envelope': {
      const [type, timestamp] = [JSON.stringify(typeOf(delivery)), timestampOf(delivery)];
      return { ...plain, body: `{"type":${type},"timestamp":"${timestamp}","data":${data}}` };
    }
    case 'cloudevents': {
      const attributes = JSON.stringify({ ...attributesOf(delivery), datacontenttype: 'application/json' });
      const body = `${attributes.slice(0, -1)},"data":${data}}`;
      return { body, contentType: 'application/cloudevents+json; charset=utf-8', headers: [] };
    }
    case 'cloudevents-binary': {
      const attributes = Object.entries(attributesOf(delivery));
      return { ...plain, headers: attributes.flatMap(([name, value]) => [`ce-${name}`, encodeAttribute(value)]) };
    }
  }
}

/** Two events never have the same source and id. */
function attributesOf(delivery: DueDelivery) {
  return {
    specversion: '1.0',
    id: `${delivery.indexedAtMs}-${delivery.seq}`,
    source: `urn:headwater:${delivery.emitterId}`,
    type: typeOf(delivery),
    time: timestampOf(delivery),
  };
}

function typeOf({ channel }: DueDelivery): string {
  return channel === '' ? DEFAULT_TYPE : channel.toWellFormed();
}

// As the HTTP binding has it (3.1.3.2): all but printable ASCII, spaces, double quotes and percent
// signs.
function encodeAttribute(value: string): string {
  return value.replace(/[^\x21\x23\x24\x26-\x7e]/gu, encodeURIComponent);
}

// An author's `ts` may be any integer; beyond ±8.64e15 there is no date.
function timestampOf(delivery: DueDelivery): string {
  const date = new Date(delivery.ts ?? delivery.indexedAtMs);
  return (Number.isNaN(date.getTime()) ? new Date(delivery.indexedAtMs) : date).toISOString();
}
