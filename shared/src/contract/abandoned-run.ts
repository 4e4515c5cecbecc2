import { z } from 'zod';
import { LIMITS } from '../limits/platform-limits.ts';

export const abandonedRunSchema = z
  .object({
    id: z.string().meta({ description: 'The id of the run.', example: 'inv_1vZ8kQ0aB3xYpL9mWc2T' }),
    source_id: z.string().describe('The source that it ran for.'),
    status: z.literal('abandoned').describe('It was given up.'),
    kind: z.string().meta({ description: 'What started it: `http`, `timer`, `manual` or `event`.' }),
    caused_by: z.string().nullable().meta({ description: 'The `emit_id` of the event that started it.' }),
    trace_id: z.string().describe('The trace that it belongs to.'),
    event: z.unknown().describe('What it was to run with.'),
    event_truncated: z.boolean().meta({
      description: `\`event\` is a string: the first ${LIMITS.summaryEventBytes} bytes of its JSON.`,
    }),
    error: z
      .object({
        code: z.string().describe('What kind of failure it is, from the table of errors.'),
        message: z.string().describe('What it says.'),
      })
      .describe('Why it was given up.'),
    abandoned_at_ms: z.int().meta({ description: 'Epoch milliseconds.' }),
  })
  .meta({ id: 'AbandonedRun' });

export const retriedSchema = z
  .object({ count: z.int().meta({ description: 'Runs that are queued again.' }) })
  .meta({ id: 'RetriedRuns' });
