import { type KeyObject, timingSafeEqual } from 'node:crypto';
import { signatures } from '../transports/webhook/sign.ts';

/** How far the clock of the sender may be away. */
const TOLERANCE_SECONDS = 300;

export interface SignedRequest {
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
}

/**
 * Checks a delivery as Standard Webhooks prescribes for receivers. Returns the fault of the
 * signature; undefined if it is valid.
 */
export function findSignatureFault(
  key: KeyObject,
  { headers, body }: SignedRequest,
  nowMs: number,
): string | undefined {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
  if (id === undefined || timestamp === undefined || signature === undefined)
    return 'It lacks webhook-id, webhook-timestamp or webhook-signature';
  if (!/^\d{1,15}$/.test(timestamp)) return 'webhook-timestamp is no number of seconds';
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > TOLERANCE_SECONDS)
    return `webhook-timestamp is more than ${TOLERANCE_SECONDS} seconds away: it may have been sent before`;
  const expected = Buffer.from(signatures([key], { id, timestampSeconds: Number(timestamp), body }));
  const isGood = signature.split(' ').some((one) => isSame(Buffer.from(one), expected));
  return isGood ? undefined : 'webhook-signature does not fit the body and the secret of the webhook';
}

function isSame(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}
