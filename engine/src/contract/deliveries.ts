import type { Delivery } from '@headwater/shared/contract';
import type { AttemptRecord } from './base.ts';

export type DeliveryStatus = Delivery['status'];
export type DeliveryErrorClass = NonNullable<Delivery['error_class']>;

export type AttemptTrigger = NonNullable<Delivery['attempts'][number]['trigger']>;

/**
 * Milliseconds that each phase took: the name's lookup, the connection, TLS, from the request to
 * the first byte of the answer, and from there to its end. Null: it was not reached, or there was
 * none.
 */
export type AttemptPhases = readonly [
  dns: number | null,
  connect: number | null,
  tls: number | null,
  firstByte: number | null,
  end: number | null,
];

/** As it is stored, in the order in which attempts were made. Older ones have less. */
export interface DeliveryAttempt extends AttemptRecord {
  trigger?: AttemptTrigger;
  error_class?: DeliveryErrorClass;
  phases?: AttemptPhases;
  /** Its connection had served another request. */
  reused?: true;
  remote_address?: string;
  /** Lines `name: value`, names in lower case; secrets as `[redacted]`. */
  request_headers?: string;
  response_headers?: string;
  /** Bytes of the answer that were kept, where `response` is not all of them. */
  response_bytes?: number;
  /** ISO 8601. */
  next_attempt_at?: string;
  /** Its transform has dropped it: no request was made. */
  dropped?: true;
}

/** One attempt with what was kept of its answer. */
export interface WholeAttempt {
  delivery: DeliveryRecord;
  attempt: DeliveryAttempt;
  body: Buffer;
}

export interface DeliveryRecord {
  id: string;
  webhookId: string;
  emitterId: string;
  eventId: string;
  status: DeliveryStatus;
  /** Absent where no attempt has failed, or before it was recorded. */
  errorClass?: DeliveryErrorClass;
  attempts: DeliveryAttempt[];
  /** Only for a pending delivery. */
  nextAttemptAt?: Date;
  /** The replay that made it. */
  replayId?: string;
  createdAt: Date;
}

/** The state of a webhook, by its newest deliveries and its backlog. */
export interface WebhookHealth {
  /** Looked at. */
  deliveries: number;
  /** Theirs. */
  attempts: number;
  latencyMs: { p50: number | null; p95: number | null };
  /** Attempts by class; `none`: without an answer. */
  statusClasses: Record<'http_2xx' | 'http_3xx' | 'http_4xx' | 'http_5xx' | 'none', number>;
  /** Up to LIMITS.maxCountedEvents. */
  backlog: number;
  oldestDueAt?: Date;
  /** As in WebhookRecord. */
  currentRatePerSecond?: number;
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
  /**
   * Contained in what an attempt was answered, its error, its address or the id, in whatever case.
   */
  text?: string;
}

/** Which failed deliveries to make due again. */
export type RedeliveryChoice = Pick<DeliveryChoice, 'errorClasses' | 'since' | 'until'>;

export const ENDED_STATUSES = ['failed', 'cancelled', 'dropped', 'delivered'] as const;
export type EndedStatus = (typeof ENDED_STATUSES)[number];

/** Which deliveries that have ended to make due again. */
export interface MatchingChoice extends RedeliveryChoice {
  ids?: readonly string[];
  /** Default: those that have failed. */
  statuses?: readonly EndedStatus[];
  /** On the data of the event; JSON, checked by the engine. */
  filter?: unknown;
  /** The `endCursor` of the request before. */
  after?: string;
  /** Counts them, and changes nothing. */
  isDryRun?: boolean;
}
