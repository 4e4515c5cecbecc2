import { z } from '@hono/zod-openapi';
import type { Publication } from '@headwater/engine';

export const publicationSchema = z
  .object({
    source_id: z
      .string()
      .openapi({ description: 'The source that emitted the events.', example: 'dc_1vZ8kQ0aB3xYpL9mWc2T' }),
    trace_id: z.string().openapi({ description: 'Of `GET /v1/traces/{id}`.', example: 'inv_1vZ8kQ0aB3xYpL9mWc2T' }),
    events: z
      .array(
        z.object({
          id: z.string().openapi({ description: 'The id of the event.', example: '1763640000123-0' }),
          emit_id: z.string().openapi({ description: 'Unique over all events.' }),
          message_id: z.string().openapi({ description: 'The header `webhook-id` of its deliveries.' }),
          given_id: z.string().nullable().openapi({ description: 'The id that its sender gave.' }),
          duplicate: z.boolean().openapi({
            description: 'Its id was known: `id` is that of the event that was stored for it, and nothing new was.',
          }),
        }),
      )
      .openapi({ description: 'In the order in which they were sent.' }),
  })
  .openapi('Publication');

export function presentPublication({ sourceId, traceId, events }: Publication): z.output<typeof publicationSchema> {
  return {
    source_id: sourceId,
    trace_id: traceId,
    events: events.map(({ id, emitId, messageId, givenId, isDuplicate }) => ({
      id,
      emit_id: emitId,
      message_id: messageId,
      given_id: givenId ?? null,
      duplicate: isDuplicate,
    })),
  };
}
