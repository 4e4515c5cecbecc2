import { z } from '@hono/zod-openapi';
import type { ExecutionError, ExecutionRecord, ExecutionStepRecord, ShownJson } from '@headwater/engine';
import { LIMITS, type LogLine } from '@headwater/shared';
import { lateList, lateRecord, RawJson } from '../raw-json.ts';
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
  at: z.int().openapi({ description: 'Epoch milliseconds.' }),
  level: z.enum(['debug', 'info', 'warn', 'error']).describe('The level of the line.'),
  message: z.string().describe('The text of the line.'),
  limit: logLimitSchema.optional().describe('The limit that cut the line or dropped others. Absent: none did.'),
});

export const executionErrorSchema = z.object({
  code: z.string().describe('What kind of failure it is, from the table of errors.'),
  message: z.string().describe('What it says.'),
  stack: z.string().nullable().describe('The stack of the component. Null: there is none.'),
  namespace: z.string().nullable().openapi({ description: 'The step that failed.' }),
  limit: exceededLimitSchema.nullable().describe('The limit that is the reason. Null: none is.'),
});

export const propsField = z
  .unknown()
  .optional()
  .openapi({
    description: `Its props by name, as the component got them: what expressions came to, and what is configured. A secret is \`[secret:<name>]\`, an app its connected account. Of more than ${LIMITS.recordedPropsChars} characters the rest is cut, and named in \`truncated\`. Absent where it has none, and in lists.`,
  });

const stepSchema = z.object({
  status: z.enum(['done', 'failed', 'continued', 'rerun', 'waiting', 'cancelled']).openapi({
    description:
      '`continued`: it has failed, and those behind it run all the same. `waiting`: it is done, and the execution waits. `rerun`: it is to be run again. `cancelled`: the execution was, while it waited for either.',
  }),
  runs: z.int().openapi({ description: 'How often it was run.' }),
  props: propsField,
  $return_value: z.unknown().optional().openapi({ description: 'Absent where it returned nothing.' }),
  exports: z.unknown().openapi({ description: 'By name, `$summary` among them.' }),
  truncated: z
    .array(z.string())
    .optional()
    .openapi({
      description: `Which of the two are longer than ${LIMITS.shownStepBytes} bytes (in lists ${LIMITS.summaryEventBytes}) and therefore strings: the beginning of their JSON. \`expand=exports\` shows them whole. In lists also \`logs\`, where its lines are left out. \`props.<name>\`: that prop was recorded up to here only.`,
    }),
  logs: z.array(logLineSchema).describe('What the step logged.'),
  error: executionErrorSchema.nullable().describe('What the step failed with. Null: nothing.'),
  started_at: z.int().openapi({ description: 'Epoch milliseconds.' }),
  ended_at: z.int().openapi({ description: 'Epoch milliseconds.' }),
});

const summaryFields = {
  id: z.string().openapi({ description: 'The id of the execution.', example: 'exec_1vZ8kQ0aB3xYpL9mWc2T' }),
  workflow_id: z.string().describe('The workflow that it is one of.'),
  deployment_id: z.string().nullable().openapi({ description: 'Null before it has begun.' }),
  status: z.enum(EXECUTION_STATUSES).describe('Where it stands.'),
  kind: z.string().openapi({ description: 'What started it: `http`, `timer`, `manual`, `event`.' }),
  trace_id: z.string().describe('The trace that it belongs to.'),
  caused_by: z.string().nullable().openapi({ description: 'The `emit_id` of the event that started it.' }),
  replay_of: z.string().nullable().describe('The execution whose event it repeats. Null: none.'),
  trigger: z
    .object({
      event: z.unknown().describe('The event that started it.'),
      event_truncated: z.boolean().openapi({ description: '`event` is a string: the beginning of its JSON.' }),
      context: z.unknown().nullable().openapi({ description: 'Null before its first step has ended.' }),
    })
    .openapi({ description: 'What steps see as `steps.trigger`.' }),
  error: executionErrorSchema.nullable().describe('What it failed with. Null: nothing.'),
  reason: z.string().nullable().openapi({ description: 'What `$.flow.exit` was given.' }),
  wait: z
    .object({
      kind: z.enum(['delay', 'suspend', 'rerun', 'retry']).describe('The reason why it waits.'),
      until: z.int().describe('When it goes on by itself. Epoch milliseconds.'),
    })
    .nullable()
    .openapi({ description: 'Why it waits, and until when at most (epoch milliseconds).' }),
  started_at: z.int().nullable().openapi({ description: 'Epoch milliseconds.' }),
  ended_at: z.int().nullable().openapi({ description: 'Epoch milliseconds.' }),
};

export const executionSchema = z
  .object({
    ...summaryFields,
    steps: z.record(z.string(), stepSchema).openapi({ description: 'By namespace, in the order of the workflow.' }),
  })
  .openapi('Execution');

type Summary = Omit<z.output<typeof executionSchema>, 'steps'>;

function presentSummary(execution: ExecutionRecord): Summary {
  const { event, context, wait } = execution;
  const trigger = {
    event: jsonOf(event),
    event_truncated: event.isCut === true,
    context: context === undefined ? null : new RawJson(context),
  };
  return {
    id: execution.id,
    workflow_id: execution.workflowId,
    deployment_id: execution.deploymentId ?? null,
    status: execution.status,
    kind: execution.kind,
    trace_id: execution.traceId,
    caused_by: execution.causedBy ?? null,
    replay_of: execution.replayOf ?? null,
    // JSON within JSON is put together as text: values of components are never parsed here.
    trigger: lateRecord(trigger),
    error: presentError(execution.error),
    reason: execution.reason ?? null,
    wait: wait === undefined ? null : { kind: wait.kind, until: wait.until.getTime() },
    started_at: execution.startedAt?.getTime() ?? null,
    ended_at: execution.endedAt?.getTime() ?? null,
  };
}

export function presentExecution(execution: ExecutionRecord): z.output<typeof executionSchema> {
  // Megabytes of them are made by and by.
  const steps = Object.fromEntries(execution.steps.map((step) => [step.namespace, presentStep(step)]));
  return { ...presentSummary(execution), steps: lateRecord(steps) };
}

function presentStep(step: ExecutionStepRecord): z.output<typeof stepSchema> {
  const { value, exports, props, propsCut = [] } = step;
  const truncated = [
    ...(value?.isCut === true ? ['$return_value'] : []),
    ...(exports.isCut === true ? ['exports'] : []),
    ...(step.logsAreCut === true ? ['logs'] : []),
    ...propsCut.map((name) => `props.${name}`),
  ];
  return lateRecord({
    status: step.status,
    runs: step.runs,
    ...(props === undefined ? {} : { props: new RawJson(props) }),
    ...(value === undefined ? {} : { $return_value: jsonOf(value) }),
    exports: jsonOf(exports),
    ...(truncated.length === 0 ? {} : { truncated }),
    logs: lateList(presentLines(step.logs)),
    error: presentError(step.error),
    started_at: step.startedAt.getTime(),
    ended_at: step.endedAt.getTime(),
  });
}

export function presentLines(lines: readonly LogLine[]): z.output<typeof logLineSchema>[] {
  return lines.map(({ atMs: at, level, message, limit }) => ({
    at,
    level,
    message,
    ...(limit === undefined ? {} : { limit }),
  }));
}

export function presentError(error: ExecutionError | undefined): z.output<typeof executionErrorSchema> | null {
  if (error === undefined) return null;
  const { code, message, stack = null, namespace = null, limit = null } = error;
  return { code, message, stack, namespace, limit };
}

const jsonOf = ({ text, isCut }: ShownJson) => (isCut === true ? text : new RawJson(text));
