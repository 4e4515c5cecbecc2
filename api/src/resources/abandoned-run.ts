import { z } from '@hono/zod-openapi';
import type { AbandonedRunRecord } from '@headwater/engine';
import { LIMITS } from '@headwater/shared';
import { RawJson } from '../raw-json.ts';

export const abandonedRunSchema = z
  .object({
    id: z.string().openapi({ example: 'inv_1vZ8kQ0aB3xYpL9mWc2T' }),
    source_id: z.string(),
    status: z.literal('abandoned'),
    kind: z.string().openapi({ description: 'What started it: `http`, `timer`, `manual` or `event`.' }),
    caused_by: z.string().nullable().openapi({ description: 'The `emit_id` of the event that started it.' }),
    trace_id: z.string(),
    event: z.unknown(),
    event_truncated: z.boolean().openapi({
      description: `\`event\` is a string: the first ${LIMITS.summaryEventBytes} bytes of its JSON.`,
    }),
    error: z.object({ code: z.string(), message: z.string() }),
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
