import { z } from '@hono/zod-openapi';
import type { TestedStep, WorkflowTestRecord } from '@headwater/engine';
import { RawJson, recordParts, recordToJson } from '../raw-json.ts';
import { executionErrorSchema, logLineSchema, presentError, presentLines } from './execution.ts';

const stepSchema = z.object({
  namespace: z.string(),
  status: z.enum(['done', 'failed', 'continued']),
  $return_value: z.unknown().optional().openapi({ description: 'Absent where the step returned nothing.' }),
  exports: z.record(z.string(), z.unknown()).openapi({ description: 'By name; `$summary` is one of them.' }),
  logs: z.array(logLineSchema),
  error: executionErrorSchema.nullable(),
  flow: z
    .object({
      kind: z.enum(['exit', 'delay', 'suspend', 'rerun']),
      reason: z.string().optional(),
      ms: z.number().optional(),
      context: z.unknown().optional(),
    })
    .nullable()
    .openapi({ description: 'What it asked for with `$.flow`. A delay or suspension is over at once.' }),
  sends: z
    .array(z.object({ kind: z.string(), payload: z.unknown() }))
    .openapi({ description: 'What it gave to `$.send`; nothing of it is sent.' }),
  responds: z
    .array(
      z.object({
        status: z.int(),
        headers: z.record(z.string(), z.string()),
        body: z.string(),
        is_base64: z.boolean(),
        immediate: z.boolean(),
      }),
    )
    .openapi({ description: 'What it gave to `$.respond`. `is_base64`: the body is no text.' }),
  started_at: z.number().openapi({ description: 'Epoch milliseconds.' }),
  ended_at: z.number(),
});

export const workflowTestSchema = z
  .object({
    deployment_id: z.string(),
    status: z.enum(['succeeded', 'failed', 'exited', 'rerun']),
    trigger: z.object({ event: z.unknown(), context: z.unknown() }),
    steps: z.array(stepSchema).openapi({ description: 'Those that were run, in their order.' }),
  })
  .openapi('WorkflowTest');

export function presentWorkflowTest(record: WorkflowTestRecord): z.output<typeof workflowTestSchema> {
  const { deploymentId, status, event, context, steps } = record;
  return {
    deployment_id: deploymentId,
    status,
    trigger: rawRecord({ event: new RawJson(event), context: new RawJson(context) }),
    steps: new RawJson(`[${steps.map(stepJson).join(',')}]`) as unknown as z.output<typeof stepSchema>[],
  };
}

/** A record below the top of an answer, where only text that is ready can hold JSON text. */
function rawRecord<T extends object>(record: T): T {
  return new RawJson(...recordParts(record)) as unknown as T;
}

function stepJson(step: TestedStep): string {
  const { namespace, status, value, exports, logs, error, flow, sends, responds, startedAt, endedAt } = step;
  return recordToJson({
    namespace,
    status,
    $return_value: value === undefined ? undefined : new RawJson(value),
    exports: new RawJson(exports),
    logs: presentLines(logs),
    error: presentError(error),
    flow: flow === undefined ? null : flowOf(flow),
    sends: new RawJson(
      `[${sends.map(({ kind, payload }) => recordToJson({ kind, payload: new RawJson(payload) })).join(',')}]`,
    ),
    responds: responds.map(respondOf),
    started_at: startedAt.getTime(),
    ended_at: endedAt.getTime(),
  });
}

function flowOf(flow: NonNullable<TestedStep['flow']>): object {
  if (flow.kind !== 'rerun' || flow.context === undefined) return flow;
  return rawRecord({ ...flow, context: new RawJson(flow.context) });
}

function respondOf({ response: { status, headers, body }, immediate }: TestedStep['responds'][number]): object {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const text = bytes.toString('utf8');
  const isText = Buffer.from(text).equals(bytes);
  return { status, headers, body: isText ? text : bytes.toString('base64'), is_base64: !isText, immediate };
}
