/** What `run` gets when a request arrives at an HTTP interface. */
export interface HttpEvent {
  /** Upper case. */
  method: string;
  /** What follows the endpoint, `/` at least. */
  path: string;
  query: Record<string, string | string[]>;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** The body as text, or in base64 where it is none; empty without one. */
  bodyRaw: string;
  /** The body is no text. */
  isBase64Encoded?: true;
  /** Parsed where it is JSON, urlencoded or multipart; else as `bodyRaw`, or null without a body. */
  // Checked by nobody before the component sees it: a type would be a promise that the sender never gave.
  body: any;
}

/** What `run` gets when a timer fires. */
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
 * `this.$emit`: at most 1 MB of JSON an event. The metadata and its `id` may be left out only where the source has no `dedupe`.
 */
export type Emit<D> = [D] extends [DedupeStrategy]
  ? (event: unknown, metadata: DedupedMetadata) => void
  : (event?: unknown, metadata?: EmitMetadata) => void;
