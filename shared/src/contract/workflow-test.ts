import { z } from 'zod';
import { LIMITS } from '../limits/platform-limits.ts';
import { executionErrorSchema, logLineSchema, propsField } from './execution.ts';

export const testedStepSchema = z.object({
  namespace: z.string().describe('The name of the step.'),
  status: z
    .enum(['done', 'failed', 'continued'])
    .describe('`done`: it ended well. `failed`: it threw. `continued`: it failed, and its settings go on.'),
  props: propsField,
  truncated: z.array(z.string()).optional().meta({ description: 'As of an execution: `props.<name>`.' }),
  $return_value: z.unknown().optional().meta({ description: 'Absent where the step returned nothing.' }),
  exports: z.record(z.string(), z.unknown()).meta({ description: 'By name; `$summary` is one of them.' }),
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
    .meta({ description: 'What it asked for with `$.flow`. A delay or suspension is over at once.' }),
  sends: z
    .array(
      z.object({
        kind: z.string().describe('`http`, `email`, `s3`, `emit` or `sse`.'),
        payload: z.unknown().describe('What it was given.'),
      }),
    )
    .meta({ description: 'What it gave to `$.send`; nothing of it is sent.' }),
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
    .meta({
      description: `What it gave to \`$.respond\`. \`is_base64\`: the body is no text. \`body_truncated\`: it is longer than ${LIMITS.shownStepBytes} bytes, and this is its beginning.`,
    }),
  started_at: z.number().meta({ description: 'Epoch milliseconds.' }),
  ended_at: z.number().describe('When it ended. Epoch milliseconds.'),
});

export const workflowTestSchema = z
  .object({
    deployment_id: z.string().nullable().meta({ description: 'Null where the workflow is not saved.' }),
    status: z.enum(['succeeded', 'failed', 'exited', 'rerun']).describe('How the test ended.'),
    trigger: z
      .object({
        event: z.unknown().describe('The event that the test ran with.'),
        context: z.unknown().describe('The context that it ran with.'),
      })
      .describe('What steps saw as `steps.trigger`.'),
    steps: z.array(testedStepSchema).meta({ description: 'Those that were run, in their order.' }),
  })
  .meta({ id: 'WorkflowTest' });
