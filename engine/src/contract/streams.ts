import type { Principal } from './base.ts';
import type { EventRecord, LogLineRecord } from './events.ts';

/**
 * An endless stream, oldest item first. Items that are not read yet wait in the database, not in
 * memory.
 */
export interface Stream<T> {
  /**
   * The next items; an empty array after `waitMs` without any. Undefined: the stream has ended,
   * because the emitter was deleted or the node stops. One call at a time.
   */
  next(waitMs: number): Promise<T[] | undefined>;
  /** Idempotent. */
  close(): void;
}

export interface EventStreamRequest {
  /** The id of an event: the stream begins after it. Absent: with the last LIMITS.recentEvents. */
  after?: string;
  /** One channel, '' being the default one; absent: all but the built-in ones, `$sse` included. */
  channel?: string;
  /** Data is whole; else cut to LIMITS.summaryEventBytes. */
  expand: boolean;
}

/**
 * Streams of sources and workflows. Both methods throw NOT_FOUND, INVALID_REQUEST (`last_event_id`)
 * and RATE_LIMITED if the account has maxStreams open on this node. They throw UNAVAILABLE if the
 * node has too many or stops.
 */
export interface Streams {
  events(who: Principal, emitterId: string, request: EventStreamRequest): Promise<Stream<EventRecord>>;
  /** `after`: the id of a line. */
  logs(who: Principal, emitterId: string, request: { after?: string }): Promise<Stream<LogLineRecord>>;
  /** Ends all of them, and opens no more: before a server can stop. Idempotent. */
  end(): void;
}
