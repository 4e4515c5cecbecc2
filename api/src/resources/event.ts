import type { EventRecord, LogLineRecord } from '@headwater/engine';
import { LIMITS } from '@headwater/shared';
import type { eventSummarySchema, Shown } from '@headwater/shared/contract';
import { given } from '../parameters/given.ts';
import { RawJson } from '../raw-json.ts';

export function presentEvent(event: EventRecord): Shown<typeof eventSummarySchema> {
  return {
    id: event.id,
    indexed_at_ms: event.indexedAtMs,
    event: event.isCut === true ? cutText(event.data, LIMITS.summaryEventBytes) : new RawJson(event.data),
    event_truncated: event.isCut === true,
    metadata: {
      emit_id: `${event.emitterId}-${event.id}`,
      emitter_id: event.emitterId,
      name: event.channel,
      summary: event.summary ?? null,
      id: event.emitId ?? null,
      ts: event.ts ?? null,
      caused_by: event.causedBy ?? null,
      trace_id: event.traceId ?? null,
    },
  };
}

/** A log line as an event of the channel `$logs`. */
export function presentLogLine(
  sourceId: string,
  { id, runId, index, atMs, level, message, namespace, code, limit }: LogLineRecord,
): Shown<typeof eventSummarySchema> {
  return {
    id,
    indexed_at_ms: atMs,
    event: { level, message, ts: atMs, run: runId, ...given({ step: namespace, code, limit }) },
    event_truncated: false,
    metadata: {
      emit_id: `${runId}-${index}`,
      emitter_id: sourceId,
      name: '$logs',
      summary: null,
      id: null,
      ts: atMs,
      caused_by: null,
      trace_id: null,
    },
  };
}

/** The first `maxBytes` bytes at most, never half a character. */
function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.slice(0, maxBytes));
  let end = Math.min(maxBytes, bytes.length);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
