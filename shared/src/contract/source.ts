import { z } from 'zod';
import { LIMITS } from '../limits/platform-limits.ts';
import { exceededLimitSchema, logLimitSchema } from './exceeded-limit.ts';
import { secondsField } from './fields.ts';

export const sourceSchema = z
  .object({
    id: z.string().meta({ description: 'The id of the source.', example: 'dc_1vZ8kQ0aB3xYpL9mWc2T' }),
    user_id: z.string().describe('The user who made it.'),
    component_id: z.string().describe('The saved component (`sc_…`) that it runs.'),
    name: z.string().describe('Its name.'),
    name_slug: z.string().meta({ description: 'Unique in the account.' }),
    active: z.boolean().describe('false: it is stopped, and nothing starts it.'),
    configured_props: z.record(z.string(), z.unknown()).meta({
      description:
        'An HTTP interface shows `{ endpoint_url }`, a timer `{ interval_seconds }` or `{ cron }`; secret values are left out.',
    }),
    configurable_props: z.array(z.record(z.string(), z.unknown())).meta({
      description: 'Its props: those of its component, and those that `additionalProps` has made of its values.',
    }),
    preflight: z.enum(['allow', 'run']).meta({ description: 'What becomes of a CORS preflight to its endpoints.' }),
    durability: z.enum(['stored', 'none']).meta({
      description:
        'What of a request to its endpoints survives a crash: the request, or only what its run has committed.',
    }),
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
      .meta({ description: 'Its last run that failed, as long as its events are kept; the beginning of why.' }),
  })
  .meta({ id: 'Source' });

export const invocationSchema = z
  .object({
    invocation_id: z
      .string()
      .meta({ description: 'The run, for `GET /v1/traces/{id}`.', example: 'inv_1vZ8kQ0aB3xYpL9mWc2T' }),
  })
  .meta({ id: 'Invocation' });

export const runSchema = z
  .object({
    id: z.string().describe('The id of the run.'),
    kind: z
      .string()
      .meta({ description: 'What started it: `http`, `timer`, `manual`, `event` (of another source) or a hook.' }),
    caused_by: z.string().nullable().meta({ description: 'The `emit_id` of the event that started it.' }),
    status: z.enum(['ok', 'error']).describe('`ok`: it ended well. `error`: it failed.'),
    error: z
      .object({
        code: z.string().describe('What kind of failure it is, from the table of errors.'),
        message: z.string().describe('What it says.'),
        stack: z.string().nullable().describe('The stack of the component. Null: there is none.'),
        limit: exceededLimitSchema.nullable().describe('The limit that is the reason. Null: none is.'),
      })
      .nullable()
      .meta({
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
      .meta({
        description: `\`logs\` is left out: those of the newer runs in the list have more than ${LIMITS.maxShownLogBytes} bytes with it. A shorter list, or a stream of the log, has it.`,
      }),
    emitted: z.int().nullable().meta({
      description: 'Events that it emitted and that were stored. Null: not known, an older version ran it.',
    }),
    deduped: z.int().nullable().meta({ description: 'Events that it emitted and that dedupe dropped.' }),
    started_at_ms: z.int().meta({ description: 'Epoch milliseconds.' }),
    ended_at_ms: z.int().meta({ description: 'Epoch milliseconds.' }),
  })
  .meta({ id: 'Run' });
