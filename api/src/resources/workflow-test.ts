import { z } from '@hono/zod-openapi';
import type { TestedStep, WorkflowTestRecord } from '@headwater/engine';
import { LIMITS } from '@headwater/shared';
import { lateList, lateRecord, RawJson } from '../raw-json.ts';
import { executionErrorSchema, logLineSchema, presentError, presentLines, propsField } from './execution.ts';

const stepSchema = z.object({
  namespace: z.string().describe('The name of the step.'),
  status: z
    .enum(['done', 'failed', 'continued'])
    .describe('`done`: it ended well. `failed`: it threw. `continued`: it failed, and its settings go on.'),
  props: propsField,
  truncated: z.array(z.string()).optional().openapi({ description: 'As of an execution: `props.<name>`.' }),
  $return_value: z.unknown().optional().openapi({ description: 'Absent where the step returned nothing.' }),
  exports: z.record(z.string(), z.unknown()).openapi({ description: 'By name; `$summary` is one of them.' }),
  logs: z.array(logLineSchema).describe('What it logged.'),
  error: executionErrorSchema.nullable().describe('What it failed with. Null: nothing.'),
  flow: z
    .object({
      kind: z
        .enum(['exit', 'delay', 'suspend', 'rerun'])
        .describe('What it called: `$.flow.exit`, `.delay`, `.suspend` or `.rerun`.'),
      reason: z.string().optional().describe('The reason that `exit` was given.'),
      ms: z.number().optional().describe('How long it was to wait, in milliseconds.'),
      context: z.unknown().optional().describe('The context that `rerun` was given.'),
    })
    .nullable()
    .openapi({ description: 'What it asked for with `$.flow`. A delay or suspension is over at once.' }),
  sends: z
    .array(
      z.object({
        kind: z.string().describe('`http`, `email`, `s3`, `emit` or `sse`.'),
        payload: z.unknown().describe('What it was given.'),
      }),
    )
    .openapi({ description: 'What it gave to `$.send`; nothing of it is sent.' }),
  responds: z
    .array(
      z.object({
        status: z.int().describe('The HTTP status.'),
        headers: z
          .record(z.string(), z.union([z.string(), z.array(z.string())]))
          .describe('The headers, names in lower case.'),
        body: z.string().describe('The body.'),
        is_base64: z.boolean().describe('The body is base64 of bytes that are not UTF-8.'),
        body_truncated: z.boolean().describe('The body is longer than what is shown.'),
        immediate: z.boolean().describe('The client would have been answered before the workflow went on.'),
      }),
    )
    .openapi({
      description: `What it gave to \`$.respond\`. \`is_base64\`: the body is no text. \`body_truncated\`: it is longer than ${LIMITS.shownStepBytes} bytes, and this is its beginning.`,
    }),
  started_at: z.number().openapi({ description: 'Epoch milliseconds.' }),
  ended_at: z.number().describe('When it ended. Epoch milliseconds.'),
});

export const workflowTestSchema = z
  .object({
    deployment_id: z.string().nullable().openapi({ description: 'Null where the workflow is not saved.' }),
    status: z.enum(['succeeded', 'failed', 'exited', 'rerun']).describe('How the test ended.'),
    trigger: z
      .object({
        event: z.unknown().describe('The event that the test ran with.'),
        context: z.unknown().describe('The context that it ran with.'),
      })
      .describe('What steps saw as `steps.trigger`.'),
    steps: z.array(stepSchema).openapi({ description: 'Those that were run, in their order.' }),
  })
  .openapi('WorkflowTest');

export function presentWorkflowTest(record: WorkflowTestRecord): z.output<typeof workflowTestSchema> {
  const { deploymentId, status, event, context, steps } = record;
  return {
    deployment_id: deploymentId ?? null,
    status,
    trigger: lateRecord({ event: new RawJson(event), context: new RawJson(context) }),
    steps: lateList(steps.map(presentStep)),
  };
}

function presentStep(step: TestedStep): z.output<typeof stepSchema> {
  const {
    namespace,
    status,
    props,
    propsCut = [],
    value,
    exports,
    logs,
    error,
    flow,
    sends,
    responds,
    startedAt,
    endedAt,
  } = step;
  return lateRecord({
    namespace,
    status,
    ...(props === undefined ? {} : { props: new RawJson(props) }),
    ...(propsCut.length === 0 ? {} : { truncated: propsCut.map((name) => `props.${name}`) }),
    ...(value === undefined ? {} : { $return_value: new RawJson(value) }),
    exports: new RawJson(exports) as unknown as Record<string, unknown>,
    logs: lateList(presentLines(logs)),
    error: presentError(error),
    flow: flow === undefined ? null : flowOf(flow),
    sends: lateList(sends.map(({ kind, payload }) => lateRecord({ kind, payload: new RawJson(payload) }))),
    responds: lateList(responds.map(presentResponse)),
    started_at: startedAt.getTime(),
    ended_at: endedAt.getTime(),
  });
}

function flowOf(flow: NonNullable<TestedStep['flow']>): NonNullable<z.output<typeof stepSchema>['flow']> {
  if (flow.kind !== 'rerun' || flow.context === undefined) return flow;
  return lateRecord({ ...flow, context: new RawJson(flow.context) });
}

function presentResponse({ status, headers, body, isText, isCut, immediate }: TestedStep['responds'][number]) {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString(isText ? 'utf8' : 'base64');
  return { status, headers, body: text, is_base64: !isText, body_truncated: isCut, immediate };
}
