import { z } from 'zod';
import { LIMITS } from '../limits/platform-limits.ts';
import { exceededLimitSchema, logLimitSchema } from './exceeded-limit.ts';

export const EXECUTION_STATUSES = [
  'queued',
  'running',
  'waiting',
  'succeeded',
  'failed',
  'exited',
  'cancelled',
] as const;

export const logLineSchema = z.object({
  at: z.int().meta({ description: 'Epoch milliseconds.' }),
  level: z.enum(['debug', 'info', 'warn', 'error']).describe('The level of the line.'),
  message: z.string().describe('The text of the line.'),
  limit: logLimitSchema.optional().describe('The limit that cut the line or dropped others. Absent: none did.'),
});

export const executionErrorSchema = z.object({
  code: z.string().describe('What kind of failure it is, from the table of errors.'),
  message: z.string().describe('What it says.'),
  stack: z.string().nullable().describe('The stack of the component. Null: there is none.'),
  namespace: z.string().nullable().meta({ description: 'The step that failed.' }),
  limit: exceededLimitSchema.nullable().describe('The limit that is the reason. Null: none is.'),
});

export const propsField = z
  .unknown()
  .optional()
  .meta({
    description: `Its props by name, as the component got them: what expressions came to, and what is configured. A secret is \`[secret:<name>]\`, an app its connected account. Of more than ${LIMITS.recordedPropsChars} characters the rest is cut, and named in \`truncated\`. Absent where it has none, and in lists.`,
  });

export const executionStepSchema = z.object({
  status: z.enum(['done', 'failed', 'continued', 'rerun', 'waiting', 'cancelled']).meta({
    description:
      '`continued`: it has failed, and those behind it run all the same. `waiting`: it is done, and the execution waits. `rerun`: it is to be run again. `cancelled`: the execution was, while it waited for either.',
  }),
  runs: z.int().meta({ description: 'How often it was run.' }),
  props: propsField,
  $return_value: z.unknown().optional().meta({ description: 'Absent where it returned nothing.' }),
  exports: z.unknown().meta({ description: 'By name, `$summary` among them.' }),
  truncated: z
    .array(z.string())
    .optional()
    .meta({
      description: `Which of the two are longer than ${LIMITS.shownStepBytes} bytes (in lists ${LIMITS.summaryEventBytes}) and therefore strings: the beginning of their JSON. \`expand=exports\` shows them whole. In lists also \`logs\`, where its lines are left out. \`props.<name>\`: that prop was recorded up to here only.`,
    }),
  logs: z.array(logLineSchema).describe('What the step logged.'),
  error: executionErrorSchema.nullable().describe('What the step failed with. Null: nothing.'),
  started_at: z.int().meta({ description: 'Epoch milliseconds.' }),
  ended_at: z.int().meta({ description: 'Epoch milliseconds.' }),
});

const summaryFields = {
  id: z.string().meta({ description: 'The id of the execution.', example: 'exec_1vZ8kQ0aB3xYpL9mWc2T' }),
  workflow_id: z.string().describe('The workflow that it is one of.'),
  deployment_id: z.string().nullable().meta({ description: 'Null before it has begun.' }),
  status: z.enum(EXECUTION_STATUSES).describe('Where it stands.'),
  kind: z.string().meta({ description: 'What started it: `http`, `timer`, `manual`, `event`.' }),
  trace_id: z.string().describe('The trace that it belongs to.'),
  caused_by: z.string().nullable().meta({ description: 'The `emit_id` of the event that started it.' }),
  replay_of: z.string().nullable().describe('The execution whose event it repeats. Null: none.'),
  trigger: z
    .object({
      event: z.unknown().describe('The event that started it.'),
      event_truncated: z.boolean().meta({ description: '`event` is a string: the beginning of its JSON.' }),
      context: z.unknown().nullable().meta({ description: 'Null before its first step has ended.' }),
    })
    .meta({ description: 'What steps see as `steps.trigger`.' }),
  error: executionErrorSchema.nullable().describe('What it failed with. Null: nothing.'),
  reason: z.string().nullable().meta({ description: 'What `$.flow.exit` was given.' }),
  wait: z
    .object({
      kind: z.enum(['delay', 'suspend', 'rerun', 'retry']).describe('The reason why it waits.'),
      until: z.int().describe('When it goes on by itself. Epoch milliseconds.'),
    })
    .nullable()
    .meta({ description: 'Why it waits, and until when at most (epoch milliseconds).' }),
  started_at: z.int().nullable().meta({ description: 'Epoch milliseconds.' }),
  ended_at: z.int().nullable().meta({ description: 'Epoch milliseconds.' }),
};

export const executionSchema = z
  .object({
    ...summaryFields,
    steps: z
      .record(z.string(), executionStepSchema)
      .meta({ description: 'By namespace, in the order of the workflow.' }),
  })
  .meta({ id: 'Execution' });
