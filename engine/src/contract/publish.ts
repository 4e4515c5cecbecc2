import type { Principal, RateLimitState } from './base.ts';
import type { CallerTrace } from './spans.ts';

/** An event of a sender that has no code here. */
export interface NewEvent {
  /**
   * An id that was published within LIMITS.publishedIdHours is a duplicate, and not stored again.
   */
  id?: string;
  /** Channel; default: the default one. */
  name?: string;
  /** JSON text. */
  data: string;
  summary?: string;
  /** Epoch milliseconds. */
  ts?: number;
}

interface StoredEvent {
  /** `1606511826306-0`; of a duplicate, that of the event that was stored for its id. */
  id: string;
  emitId: string;
  /** The header `webhook-id` of its deliveries. */
  messageId: string;
  /** As it was given. */
  givenId?: string;
  isDuplicate: boolean;
}

export interface Publication {
  sourceId: string;
  /** The id for `GET /v1/traces/{id}`. */
  traceId: string;
  /** In the order given. */
  events: StoredEvent[];
  /** Absent: there is no such limit. */
  rateLimit?: RateLimitState;
}

export interface Publisher {
  /**
   * Stores events as if the source had emitted them, all or none. Once it resolves, the events and
   * the duty to deliver them are durable. Without `sourceId` the account's default source emits
   * them; it is made if it does not exist. Throws NOT_FOUND, CONFLICT for a stopped source,
   * PAYLOAD_TOO_LARGE, RATE_LIMITED. `caller`: the trace of the request, for accounts that want it.
   */
  publish(who: Principal, events: readonly NewEvent[], sourceId?: string, caller?: CallerTrace): Promise<Publication>;
}
