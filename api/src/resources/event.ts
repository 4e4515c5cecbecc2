import { z } from '@hono/zod-openapi';
import type { EventRecord, LogLineRecord } from '@headwater/engine';
import { LIMITS } from '@headwater/shared';
import { given } from '../parameters/given.ts';
import { RawJson } from '../raw-json.ts';

export const eventSummarySchema = z
  .object({
    id: z.string().openapi({ example: '1763640000123-0', description: 'Grows with every event of the emitter.' }),
    indexed_at_ms: z.int().openapi({ description: 'Epoch milliseconds.' }),
    event: z.unknown().openapi({
      description: `What was emitted. Without \`expand=event\`, data whose JSON is longer than ${LIMITS.summaryEventBytes} bytes is a string instead: the beginning of its JSON text. With it, so is the data of older events once ${LIMITS.maxSummariesBytes} bytes are shown.`,
    }),
    event_truncated: z.boolean().openapi({ description: '`event` is such a string.' }),
    metadata: z
      .object({
        emit_id: z.string().openapi({ description: 'Unique over all events.' }),
        emitter_id: z.string().describe('The source or workflow that emitted it.'),
        name: z.string().openapi({ description: "The channel; '' is the default channel." }),
        summary: z.string().nullable().describe('The summary that the component gave. Null: none.'),
        id: z.string().nullable().openapi({ description: 'The id that the component gave.' }),
        ts: z.number().nullable().openapi({ description: 'The time that the component gave, epoch milliseconds.' }),
        caused_by: z.string().nullable().openapi({
          description: 'The `emit_id` of the event that started the run that emitted this one, where one did.',
        }),
        trace_id: z.string().nullable().openapi({
          description: 'The invocation that the chain of events began with: the same for all that followed from it.',
        }),
      })
      .describe('What is known of it besides its data.'),
  })
  .openapi('EventSummary');

export function presentEvent(event: EventRecord): z.output<typeof eventSummarySchema> {
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
): z.output<typeof eventSummarySchema> {
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
