import { LIMITS } from '@headwater/shared';
import type { AttemptRecord, DeliveryAttempt } from '../contract/index.ts';
import { textBytes } from '../accounts/index.ts';

/** An attempt without its answer: its time, its status, the names of its fields. */
const ATTEMPT_BYTES = 96;

/** The bytes kept of one attempt. */
export function attemptBytes({ response, error, limit }: AttemptRecord): number {
  return ATTEMPT_BYTES + textBytes(response, error, limit === undefined ? undefined : JSON.stringify(limit));
}

/** As attemptBytes, for a delivery, whose response may have its own row. */
export function deliveryAttemptBytes(attempt: DeliveryAttempt): number {
  const { request_headers: sent, response_headers: received, response_bytes: apart } = attempt;
  const ownRow = apart === undefined ? 0 : LIMITS.historyRowBytes + apart;
  return attemptBytes(attempt) + textBytes(sent, received) + ownRow;
}
