import { z } from 'zod';
import { LIMITS } from '../limits/platform-limits.ts';

const requestSchema = z.object({
  method: z.string().describe('`POST`, `PUT` or `PATCH`.'),
  path: z.string().meta({ description: 'With the query.' }),
  headers: z.record(z.string(), z.string()).meta({
    description: 'Names in lower case. Own headers of the webhook, its proof and its signature come later.',
  }),
  body: z.string().describe('As it is sent.'),
  is_cut: z.boolean().meta({
    description: `The body has more than ${LIMITS.maxPreviewedBodyChars} characters: these are the first.`,
  }),
});

export const transformPreviewSchema = z
  .object({
    events: z
      .array(
        z.object({
          event_id: z.string().describe('The id of the event, among those of its emitter.'),
          emit_id: z.string().describe('The same with the emitter before it, unique over all emitters.'),
          emitter_id: z.string().describe('The source or workflow that emitted it; `test`: it is made up.'),
          event_name: z.string().meta({ description: 'The channel; empty: the default one.' }),
          outcome: z.enum(['sent', 'dropped', 'failed']).describe('What would become of the delivery.'),
          before: requestSchema.describe('The request as the transform gets it.'),
          after: requestSchema.nullable().meta({ description: 'Null where nothing would be sent.' }),
          reason: z.string().nullable().meta({ description: 'Of one that is dropped; it may be empty.' }),
          error: z.string().nullable().describe('Why the transform failed. Null: it did not.'),
          logs: z.array(z.string()).meta({ description: 'The first lines that it logged.' }),
        }),
      )
      .describe('One for each event, in the order of the request.'),
  })
  .meta({ id: 'TransformPreview' });
