import { z } from '@hono/zod-openapi';
import type { EventRecord } from '@headwater/engine';
import { LIMITS } from '@headwater/shared';
import { RawJson } from '../raw-json.ts';

export const eventSummarySchema = z
  .object({
    id: z.string().openapi({ example: '1763640000123-0', description: 'Grows with every event of the emitter.' }),
    indexed_at_ms: z.int().openapi({ description: 'Epoch milliseconds.' }),
    event: z.unknown().openapi({
      description: `What was emitted. Without \`expand=event\`, data whose JSON is longer than ${LIMITS.summaryEventBytes} bytes is a string instead: the beginning of its JSON text. With it, so is the data of older events once ${LIMITS.maxSummariesBytes} bytes are shown.`,
    }),
    event_truncated: z.boolean().openapi({ description: '`event` is such a string.' }),
    metadata: z.object({
      emit_id: z.string().openapi({ description: 'Unique over all events.' }),
      emitter_id: z.string(),
      name: z.string().openapi({ description: "The channel; '' is the default channel." }),
      summary: z.string().nullable(),
      id: z.string().nullable().openapi({ description: 'The id that the component gave.' }),
      ts: z.number().nullable().openapi({ description: 'The time that the component gave, epoch milliseconds.' }),
    }),
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
