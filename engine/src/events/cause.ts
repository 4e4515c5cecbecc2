/** Origin of an invocation that an event started. */
export interface EventCause {
  /** The event, as `<emitter id>-<event id>`. */
  event: string;
  /**
   * The invocation that the chain of events began with; absent: a hook began it, and the trace
   * begins here.
   */
  traceId?: string;
  /** Events that led here, this one included. */
  hops: number;
}

/**
 * Reads `caused_by`, `trace_id` and `hops` of a row; undefined if no event started the invocation.
 */
export function causeOf(row: {
  caused_by: string | null;
  trace_id: string | null;
  hops: number;
}): EventCause | undefined {
  if (row.caused_by === null) return undefined;
  return { event: row.caused_by, hops: row.hops, ...(row.trace_id === null ? {} : { traceId: row.trace_id }) };
}
