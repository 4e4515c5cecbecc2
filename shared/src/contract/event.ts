import { z } from 'zod';
import { LIMITS } from '../limits/platform-limits.ts';

export const eventSummarySchema = z
  .object({
    id: z.string().meta({ example: '1763640000123-0', description: 'Grows with every event of the emitter.' }),
    indexed_at_ms: z.int().meta({ description: 'Epoch milliseconds.' }),
    event: z.unknown().meta({
      description: `What was emitted. Without \`expand=event\`, data whose JSON is longer than ${LIMITS.summaryEventBytes} bytes is a string instead: the beginning of its JSON text. With it, so is the data of older events once ${LIMITS.maxSummariesBytes} bytes are shown.`,
    }),
    event_truncated: z.boolean().meta({ description: '`event` is such a string.' }),
    metadata: z
      .object({
        emit_id: z.string().meta({ description: 'Unique over all events.' }),
        emitter_id: z.string().describe('The source or workflow that emitted it.'),
        name: z.string().meta({ description: "The channel; '' is the default channel." }),
        summary: z.string().nullable().describe('The summary that the component gave. Null: none.'),
        id: z.string().nullable().meta({ description: 'The id that the component gave.' }),
        ts: z.number().nullable().meta({ description: 'The time that the component gave, epoch milliseconds.' }),
        caused_by: z.string().nullable().meta({
          description: 'The `emit_id` of the event that started the run that emitted this one, where one did.',
        }),
        trace_id: z.string().nullable().meta({
          description: 'The invocation that the chain of events began with: the same for all that followed from it.',
        }),
      })
      .describe('What is known of it besides its data.'),
  })
  .meta({ id: 'EventSummary' });
