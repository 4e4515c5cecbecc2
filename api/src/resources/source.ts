import { z } from '@hono/zod-openapi';
import type { RunRecord, SourceRecord } from '@headwater/engine';
import { LIMITS } from '@headwater/shared';
import { exceededLimitSchema, logLimitSchema } from './exceeded-limit.ts';
import { epochSeconds, secondsField } from './time.ts';

export const sourceSchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the source.', example: 'dc_1vZ8kQ0aB3xYpL9mWc2T' }),
    user_id: z.string().describe('The user who made it.'),
    component_id: z.string().describe('The saved component (`sc_…`) that it runs.'),
    name: z.string().describe('Its name.'),
    name_slug: z.string().openapi({ description: 'Unique in the account.' }),
    active: z.boolean().describe('false: it is stopped, and nothing starts it.'),
    configured_props: z.record(z.string(), z.unknown()).openapi({
      description:
        'An HTTP interface shows `{ endpoint_url }`, a timer `{ interval_seconds }` or `{ cron }`; secret values are left out.',
    }),
    configurable_props: z.array(z.record(z.string(), z.unknown())).openapi({
      description: 'Its props: those of its component, and those that `additionalProps` has made of its values.',
    }),
    preflight: z.enum(['allow', 'run']).openapi({ description: 'What becomes of a CORS preflight to its endpoints.' }),
    created_at: secondsField('When the source was deployed.'),
    updated_at: secondsField('When it last changed.'),
    last_event_at: secondsField(
      `When it emitted last. Null where it did not, or failed ${LIMITS.minScannedEvents} times since.`,
    ).nullable(),
    last_error: z
      .object({
        at: secondsField('When the run failed.'),
        message: z.string().nullable().describe('The beginning of why.'),
      })
      .nullable()
      .openapi({ description: 'Its last run that failed, as long as its events are kept; the beginning of why.' }),
  })
  .openapi('Source');

export function presentSource(source: SourceRecord): z.output<typeof sourceSchema> {
  return {
    id: source.id,
    user_id: source.userId,
    component_id: source.componentId,
    name: source.name,
    name_slug: source.nameSlug,
    active: source.active,
    configured_props: source.configuredProps,
    configurable_props: source.configurableProps,
    preflight: source.preflight,
    created_at: epochSeconds(source.createdAt),
    updated_at: epochSeconds(source.updatedAt),
    last_event_at: source.lastEventAt === undefined ? null : epochSeconds(source.lastEventAt),
    last_error:
      source.lastError === undefined
        ? null
        : { at: epochSeconds(source.lastError.at), message: source.lastError.message ?? null },
  };
}

export const invocationSchema = z
  .object({
    invocation_id: z
      .string()
      .openapi({ description: 'The run, for `GET /v1/traces/{id}`.', example: 'inv_1vZ8kQ0aB3xYpL9mWc2T' }),
  })
  .openapi('Invocation');

export const runSchema = z
  .object({
    id: z.string().describe('The id of the run.'),
    kind: z
      .string()
      .openapi({ description: 'What started it: `http`, `timer`, `manual`, `event` (of another source) or a hook.' }),
    caused_by: z.string().nullable().openapi({ description: 'The `emit_id` of the event that started it.' }),
    status: z.enum(['ok', 'error']).describe('`ok`: it ended well. `error`: it failed.'),
    error: z
      .object({
        code: z.string().describe('What kind of failure it is, from the table of errors.'),
        message: z.string().describe('What it says.'),
        stack: z.string().nullable().describe('The stack of the component. Null: there is none.'),
        limit: exceededLimitSchema.nullable().describe('The limit that is the reason. Null: none is.'),
      })
      .nullable()
      .openapi({
        description:
          'Why it failed; `stack` names lines of the component as it was saved, `limit` the limit that it went over.',
      }),
    logs: z
      .array(
        z.object({
          at_ms: z.number().describe('When it was logged. Epoch milliseconds.'),
          level: z.enum(['debug', 'info', 'warn', 'error']).describe('The level of the line.'),
          message: z.string().describe('The text of the line.'),
          limit: logLimitSchema.optional().describe('The limit that cut the line or dropped others. Absent: none did.'),
        }),
      )
      .describe('What it logged, in order.'),
    truncated: z
      .array(z.literal('logs'))
      .optional()
      .openapi({
        description: `\`logs\` is left out: those of the newer runs in the list have more than ${LIMITS.maxShownLogBytes} bytes with it. A shorter list, or a stream of the log, has it.`,
      }),
    emitted: z.int().nullable().openapi({
      description: 'Events that it emitted and that were stored. Null: not known, an older version ran it.',
    }),
    deduped: z.int().nullable().openapi({ description: 'Events that it emitted and that dedupe dropped.' }),
    started_at_ms: z.int().openapi({ description: 'Epoch milliseconds.' }),
    ended_at_ms: z.int().openapi({ description: 'Epoch milliseconds.' }),
  })
  .openapi('Run');

export function presentRun(run: RunRecord): z.output<typeof runSchema> {
  return {
    id: run.id,
    kind: run.kind,
    caused_by: run.causedBy ?? null,
    status: run.status,
    error:
      run.error === undefined ? null : { ...run.error, stack: run.error.stack ?? null, limit: run.error.limit ?? null },
    logs: run.logs.map(({ atMs: at_ms, level, message, limit }) => ({
      at_ms,
      level,
      message,
      ...(limit === undefined ? {} : { limit }),
    })),
    ...(run.logsAreCut === true ? { truncated: ['logs' as const] } : {}),
    emitted: run.emitted ?? null,
    deduped: run.deduped ?? null,
    started_at_ms: run.startedAt.getTime(),
    ended_at_ms: run.endedAt.getTime(),
  };
}
