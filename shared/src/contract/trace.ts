import { z } from 'zod';
import { LIMITS } from '../limits/platform-limits.ts';
import { DELIVERY_STATUSES } from './delivery.ts';
import { exceededLimitSchema } from './exceeded-limit.ts';
import { executionErrorSchema, logLineSchema } from './execution.ts';

const moment = (description: string) =>
  z
    .int()
    .nullable()
    .meta({ description: `${description} Epoch milliseconds.` });

const attemptSchema = z.object({
  at: z.string().describe('When it began, ISO 8601.'),
  status_code: z.int().optional().describe('The HTTP status of the answer. Absent: there was none.'),
  error: z.string().optional().describe('Why it failed, in words. Absent: it did not.'),
  limit: exceededLimitSchema.optional().describe('The limit that is the reason. Absent: none is.'),
  duration_ms: z.number().describe('How long it took, in milliseconds.'),
});

export const traceListenerSchema = z.object({
  listener_id: z.string().meta({ description: 'A webhook, source or workflow.' }),
  listener_name: z
    .string()
    .nullable()
    .meta({
      description: `Of a webhook without a name, the first ${LIMITS.maxNameChars} characters of its URL.`,
    }),
  outcome: z.enum(['delivery', 'run', 'missed']).meta({
    description: 'It is delivered to the webhook; the source or workflow runs for it; or it does not get it.',
  }),
  delivery: z
    .object({
      id: z.string().describe('The id of the delivery.'),
      status: z.enum(DELIVERY_STATUSES).describe('Where it stands.'),
      next_attempt_at: moment('Of one that is pending.'),
      attempts: z.array(attemptSchema).describe('The requests that were made, the first one first.'),
    })
    .optional()
    .describe('The delivery of `delivery`.'),
  run: z.unknown().optional().meta({ description: 'The run that the event started, as in `runs`.' }),
  reason: z
    .enum(['paused', 'too_many_hops', 'backlog_full', 'hold_full', 'no_such_channel', 'filtered', 'filter_too_costly'])
    .optional()
    .meta({
      description:
        'Of `missed`: it was stopped; the chain of events was longer than `maxEventHops`; more waited than the account may have; it was stopped, and more was held than `maxPausedDeliveries`; it was subscribed to other channels only; its filter did not match, or took more steps than a filter may.',
    }),
  clause: z.string().nullable().optional().meta({
    description:
      'Of `filtered`: the first condition that did not match, as JSON text; null where the data cannot be read again.',
    example: '{"order.total":{"$gte":100}}',
  }),
});

export const traceEventSchema = z.object({
  id: z.string().describe('The id of the event.'),
  emit_id: z.string().describe('Its id among those of all emitters: `<emitter_id>-<id>`.'),
  name: z.string().meta({ description: "The channel; '' is the default channel." }),
  summary: z.string().nullable().describe('The summary that the component gave. Null: none.'),
  component_id: z.string().nullable().meta({ description: 'The id that the component gave.' }),
  indexed_at_ms: z.int().describe('When it was stored. Epoch milliseconds.'),
  bytes: z.int().meta({ description: 'Of its data, as JSON.' }),
  listeners: z.array(traceListenerSchema).describe('What is subscribed to it, and what each came to.'),
});

export const traceRunSchema = z
  .object({
    type: z.enum(['run', 'execution']).meta({ description: 'Of a source, or of a workflow.' }),
    id: z.string().describe('The id of the run (`inv_…`) or execution (`exec_…`).'),
    emitter_id: z.string().describe('The source or workflow that ran.'),
    emitter_name: z.string().nullable().describe('Its name. Null: it was deleted.'),
    kind: z
      .string()
      .nullable()
      .meta({ description: 'What started it, where it is known: `http`, `timer`, `manual`, `event`.' }),
    caused_by: z.string().nullable().meta({ description: 'The `emit_id` of the event that started it.' }),
    status: z.string().meta({ description: '`ok` and `error` of a run, those of executions, `queued`, `running`.' }),
    explanation: z.string().meta({
      description:
        'What has become of it so far, in words: `1 event emitted, dropped by dedupe unique: id 42 was known`.',
      example: 'ran, emitted nothing',
    }),
    node_id: z.string().nullable().meta({ description: 'Of one that is `running`: the node that has it.' }),
    emitter_stopped: z.boolean().meta({
      description: 'It is `queued` because its source or workflow is stopped: it waits until that is active.',
    }),
    waits: z
      .object({
        kind: z.enum(['delay', 'suspend', 'rerun', 'retry']).describe('The reason why it waits.'),
        until: z.int().describe('When it goes on by itself. Epoch milliseconds.'),
      })
      .nullable()
      .meta({ description: 'Of an execution that is `waiting`: for what, and until when. Epoch milliseconds.' }),
    reason: z.string().nullable().meta({ description: 'Of one that `exited`: what `$.flow.exit` was given.' }),
    invoked_at: moment('When it was accepted.'),
    started_at: moment('When it began.'),
    ended_at: moment('When it ended.'),
    queued_ms: z.int().nullable().meta({ description: 'How long it waited to begin.' }),
    ran_ms: z.int().nullable().meta({ description: 'From its beginning to its end, waits of an execution included.' }),
    error: executionErrorSchema.nullable().describe('What it failed with. Null: nothing.'),
    logs: z.array(logLineSchema).describe('What it logged.'),
    steps: z
      .array(
        z.object({
          namespace: z.string().describe('The name of the step.'),
          status: z.string().describe('How it ended.'),
          runs: z.int().describe('How often it was run.'),
          started_at: z.int().describe('When it began. Epoch milliseconds.'),
          ended_at: z.int().describe('When it ended. Epoch milliseconds.'),
          error: executionErrorSchema.nullable().describe('What it failed with. Null: nothing.'),
          summary: z.string().nullable().meta({ description: 'What it exported as `$summary`.' }),
          props: z.unknown().meta({
            description: `Its props as the component got them, as \`GET /v1/executions/{id}\` shows them; null where it has none, and beyond ${LIMITS.maxTraceLogBytes} bytes of all steps.`,
          }),
          logs: z.array(logLineSchema).describe('What it logged.'),
        }),
      )
      .describe('The steps that an execution has run.'),
    events: z.array(traceEventSchema).meta({ description: 'What it emitted, in the order in which it was stored.' }),
    deduped: z
      .object({
        count: z.int().describe('How many were dropped.'),
        ids: z.array(z.string()).describe('The first of their ids.'),
        strategy: z
          .enum(['unique', 'greatest', 'last'])
          .nullable()
          .describe('How ids are compared. Null: it is not known any more.'),
      })
      .nullable()
      .meta({
        description: `So many of the events that it emitted were known already, by the dedupe \`strategy\`; \`ids\` are the first ${LIMITS.maxMissedIds}.`,
      }),
    sends: z
      .array(
        z.object({
          id: z.string().describe('The id of the send.'),
          kind: z.string().describe('`http`, `email` or `s3`.'),
          status: z.string().describe('`pending`, `delivered` or `failed`.'),
          attempts: z.array(attemptSchema).describe('The requests that were made, the first one first.'),
        }),
      )
      .describe('What it sent with `$.send`.'),
  })
  .meta({ id: 'TraceRun' });

export const traceSchema = z
  .object({
    id: z.string().describe('The id of the trace: that of the first run.'),
    truncated: z.boolean().meta({
      description: `There is more: at most ${LIMITS.maxTraceRows} of runs, executions, steps, events, deliveries and sends each are shown, ${LIMITS.maxTraceListeners} listeners of all events together, those first that got one or were to get one, the last ${LIMITS.maxTraceAttempts} attempts of each delivery and send, and ${LIMITS.maxTraceLogBytes} bytes of log lines.`,
    }),
    runs: z.array(traceRunSchema).meta({ description: 'Those that no event of the trace has started: usually one.' }),
  })
  .meta({ id: 'Trace' });
