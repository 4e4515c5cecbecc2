/** Argument of `run` for a request to an HTTP interface. */
export interface HttpEvent {
  /** Upper case. */
  method: string;
  /** Path after the endpoint; at least `/`. */
  path: string;
  query: Record<string, string | string[]>;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** The whole URL, as the client wrote it. */
  url: string;
  /** As it was sent, without the question mark. */
  rawQuery: string;
  /**
   * The body as it was sent: `Buffer.from(bodyRaw, isBase64Encoded ? 'base64' : 'utf8')` are its
   * bytes. Empty without one.
   */
  bodyRaw: string;
  /** The bytes of the body are not UTF-8: `bodyRaw` is their base64. */
  isBase64Encoded?: true;
  /**
   * Parsed if it is JSON, urlencoded or multipart. Otherwise the text in its charset, base64 for
   * binary data, or null without a body.
   */
  // Not checked before the component gets it: a type would promise a form that senders do not
  // guarantee.
  body: any;
}

/** Argument of `run` when a timer fires. */
export interface TimerEvent {
  /** Epoch seconds. */
  timestamp: number;
  /** Null where the timer has a cron expression. */
  interval_seconds: number | null;
  cron?: string;
  timezone?: string;
}

export type DedupeStrategy = 'unique' | 'greatest' | 'last';

export interface EmitMetadata {
  /** At most 512 characters. Required in a source with `dedupe`. */
  id?: string | number;
  /** The channel; absent is the default channel. */
  name?: string;
  /** One line for lists of events. */
  summary?: string;
  /** Epoch milliseconds, or a Date. The events of a run are ordered by it, oldest first. */
  ts?: number | Date;
}

export type DedupedMetadata = EmitMetadata & { id: string | number };

/**
 * `this.$emit`: at most 1 MB of JSON an event. The metadata and its `id` may be left out only where
 * the source has no `dedupe`.
 */
export type Emit<D> = [D] extends [DedupeStrategy]
  ? (event: unknown, metadata: DedupedMetadata) => void
  : (event?: unknown, metadata?: EmitMetadata) => void;
