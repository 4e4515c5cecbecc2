import type { AttemptRecord } from './contract-base.ts';

/**
 * `sending`: a node has it, and its next attempt is under way or about to begin; `held`: its webhook
 * is stopped, and it waits for the start.
 */
export const DELIVERY_STATUSES = ['pending', 'sending', 'held', 'delivered', 'failed', 'cancelled'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/**
 * How the last attempt failed. `http_3xx`, `http_4xx`, `http_5xx`: by the status of the answer;
 * `timeout`: no answer in time;
 * `connection`: no connection, or no whole answer; `refused`: this server may not send there;
 * `internal`: it could not be sent.
 */
export const DELIVERY_ERROR_CLASSES = [
  'http_3xx',
  'http_4xx',
  'http_5xx',
  'timeout',
  'connection',
  'refused',
  'internal',
] as const;
export type DeliveryErrorClass = (typeof DELIVERY_ERROR_CLASSES)[number];

export interface DeliveryRecord {
  id: string;
  webhookId: string;
  emitterId: string;
  eventId: string;
  status: DeliveryStatus;
  /** Absent where no attempt has failed, or before it was recorded. */
  errorClass?: DeliveryErrorClass;
  attempts: AttemptRecord[];
  /** Of one that is pending. */
  nextAttemptAt?: Date;
  createdAt: Date;
}

/** Which deliveries. All that is given must hold. */
export interface DeliveryChoice {
  /** `<emitter id>-<event id>` of their event. */
  emitId?: string;
  statuses?: readonly DeliveryStatus[];
  errorClasses?: readonly DeliveryErrorClass[];
  /** When their event was emitted: `since` is included, `until` is not. */
  since?: Date;
  until?: Date;
}

/** Which failed deliveries to make due again. */
export type RedeliveryChoice = Pick<DeliveryChoice, 'errorClasses' | 'since' | 'until'>;
