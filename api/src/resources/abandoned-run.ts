import { z } from '@hono/zod-openapi';
import type { AbandonedRunRecord } from '@headwater/engine';
import { LIMITS } from '@headwater/shared';
import { RawJson } from '../raw-json.ts';

export const abandonedRunSchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the run.', example: 'inv_1vZ8kQ0aB3xYpL9mWc2T' }),
    source_id: z.string().describe('The source that it ran for.'),
    status: z.literal('abandoned').describe('It was given up.'),
    kind: z.string().openapi({ description: 'What started it: `http`, `timer`, `manual` or `event`.' }),
    caused_by: z.string().nullable().openapi({ description: 'The `emit_id` of the event that started it.' }),
    trace_id: z.string().describe('The trace that it belongs to.'),
    event: z.unknown().describe('What it was to run with.'),
    event_truncated: z.boolean().openapi({
      description: `\`event\` is a string: the first ${LIMITS.summaryEventBytes} bytes of its JSON.`,
    }),
    error: z
      .object({
        code: z.string().describe('What kind of failure it is, from the table of errors.'),
        message: z.string().describe('What it says.'),
      })
      .describe('Why it was given up.'),
    abandoned_at_ms: z.int().openapi({ description: 'Epoch milliseconds.' }),
  })
  .openapi('AbandonedRun');

export const retriedSchema = z
  .object({ count: z.int().openapi({ description: 'Runs that are queued again.' }) })
  .openapi('RetriedRuns');

export function presentAbandonedRun(run: AbandonedRunRecord): z.output<typeof abandonedRunSchema> {
  const { text, isCut = false } = run.event;
  return {
    id: run.id,
    source_id: run.sourceId,
    status: 'abandoned' as const,
    kind: run.kind,
    caused_by: run.causedBy ?? null,
    trace_id: run.traceId,
    event: isCut ? text : new RawJson(text),
    event_truncated: isCut,
    error: { code: 'RUN_ABANDONED', message: run.message },
    abandoned_at_ms: run.abandonedAt.getTime(),
  };
}
