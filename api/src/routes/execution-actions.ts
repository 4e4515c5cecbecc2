import { z } from '@hono/zod-openapi';
import { LIMITS } from '@headwater/shared';
import { retriedSchema } from '@headwater/shared/contract';
import { emptyEndpoint, type Endpoint, itemEndpoint } from '../endpoint.ts';
import { given } from '../parameters/given.ts';
import { dateOf, momentParameter } from '../parameters/moment.ts';
import { textParameter } from '../parameters/schemas.ts';

const tag = 'Executions';
const pathId = 'The id of the execution (`exec_…`).';

const executionIdSchema = z
  .object({
    execution_id: z
      .string()
      .openapi({ description: 'The execution, for `GET /v1/executions/{id}`.', example: 'exec_1vZ8kQ0aB3xYpL9mWc2T' }),
  })
  .openapi('StartedExecution');

const FROM_FAILED =
  '`failed`: begins with the step that failed; what the steps before it have returned and exported is taken over.';
const fromParameter = z.enum(['start', 'failed']).optional();
const deploymentParameter = z.enum(['original', 'newest']).optional().openapi({
  description:
    'The version of the workflow that it runs with. With `from=failed` and `newest` steps are taken over as far as the two versions have the same namespaces in the same order. Default: `original`.',
});

export function executionActionEndpoints(): Endpoint[] {
  return [replayExecution, retryExecutions, resumeExecution, cancelExecution];
}

const replayExecution = itemEndpoint({
  method: 'post',
  path: '/v1/executions/{id}/replay',
  name: 'replayExecution',
  tag,
  summary: 'Run an execution again',
  description:
    'Starts a new execution with the event of one that has ended. `$.context.replay` is true in it, and `replay_of` names the one it repeats.',
  pathId,
  parameters: z.object({
    from: fromParameter.openapi({ description: `${FROM_FAILED} Default: \`start\`.` }),
    deployment: deploymentParameter,
  }),
  schema: executionIdSchema,
  runIdOf: (run) => run.execution_id,
  handle: async ({ engine, who, id, input: { from, deployment } }) => {
    const request = { ...(from === undefined ? {} : { from }), ...(deployment === undefined ? {} : { deployment }) };
    const { executionId } = await engine.executions.replay(who, id, request);
    return { execution_id: executionId };
  },
});

const retryExecutions = itemEndpoint({
  method: 'post',
  path: '/v1/workflows/{id}/executions/retry',
  name: 'retryExecutions',
  tag,
  summary: 'Run failed executions of a workflow again',
  description: `Replays those that have failed, the oldest ${LIMITS.maxRetriedExecutions} at a time, as many as the queue of the account has room for. One that was replayed is passed over.`,
  pathId: 'The id of the workflow (`p_…`).',
  parameters: z.object({
    since_ms: momentParameter('Only those that ended at this time or later.'),
    until_ms: momentParameter('Only those that ended before this time.'),
    code: textParameter('maxIdChars', 1)
      .optional()
      .openapi({ description: 'Only those that failed with this error, such as `RUN_ABANDONED`.' }),
    from: fromParameter.openapi({ description: `${FROM_FAILED} Default: \`failed\`.` }),
    deployment: deploymentParameter,
  }),
  schema: retriedSchema,
  handle: async ({ engine, who, id, input }) => {
    const { since_ms: since, until_ms: until, code, from, deployment } = input;
    const choice = given({ since: dateOf(since), until: dateOf(until), code, from, deployment });
    return { count: await engine.executions.retry(who, id, choice) };
  },
});

const resumeExecution = emptyEndpoint({
  method: 'post',
  path: '/v1/executions/{id}/resume',
  name: 'resumeExecution',
  tag,
  summary: 'Go on with an execution that waits',
  description:
    'Of one that waits after `$.flow.delay`, `suspend` or `rerun`, before its time: what a request to its `resume_url` does. Answers 409 where it waits for none of these.',
  pathId,
  parameters: z.object({
    data: z.unknown().optional().openapi({
      description: 'What the steps behind find as `$resume_data` of the step that waits. Default: null.',
    }),
  }),
  status: 204,
  handle: ({ engine, who, id, input }) => engine.executions.resumeWaiting(who, id, JSON.stringify(input.data ?? null)),
});

const cancelExecution = emptyEndpoint({
  method: 'post',
  path: '/v1/executions/{id}/cancel',
  name: 'cancelExecution',
  tag,
  summary: 'End an execution',
  description:
    'One that waits or is queued ends at once. Of one that runs, the step under way is not stored and no other begins. What its steps have given to `$.send` is not sent.',
  pathId,
  parameters: z.object({}),
  status: 204,
  handle: ({ engine, who, id }) => engine.executions.cancel(who, id),
});
