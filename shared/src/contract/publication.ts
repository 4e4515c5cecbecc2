import { z } from 'zod';

export const publicationSchema = z
  .object({
    source_id: z
      .string()
      .meta({ description: 'The source that emitted the events.', example: 'dc_1vZ8kQ0aB3xYpL9mWc2T' }),
    trace_id: z.string().meta({ description: 'Of `GET /v1/traces/{id}`.', example: 'inv_1vZ8kQ0aB3xYpL9mWc2T' }),
    events: z
      .array(
        z.object({
          id: z.string().meta({ description: 'The id of the event.', example: '1763640000123-0' }),
          emit_id: z.string().meta({ description: 'Unique over all events.' }),
          message_id: z.string().meta({ description: 'The header `webhook-id` of its deliveries.' }),
          given_id: z.string().nullable().meta({ description: 'The id that its sender gave.' }),
          duplicate: z.boolean().meta({
            description: 'Its id was known: `id` is that of the event that was stored for it, and nothing new was.',
          }),
        }),
      )
      .meta({ description: 'In the order in which they were sent.' }),
  })
  .meta({ id: 'Publication' });
