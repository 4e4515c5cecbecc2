import { z } from '@hono/zod-openapi';
import { emptyEndpoint, type Endpoint, itemEndpoint } from '../endpoint.ts';

const tag = 'Executions';
const pathId = 'The id of the execution (`exec_…`).';

const executionIdSchema = z
  .object({ execution_id: z.string().openapi({ example: 'exec_1vZ8kQ0aB3xYpL9mWc2T' }) })
  .openapi('StartedExecution');

export function executionActionEndpoints(): Endpoint[] {
  return [replayExecution, cancelExecution];
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
    from: z.enum(['start', 'failed']).optional().openapi({
      description:
        '`failed`: begins with the step that failed; what the steps before it have returned and exported is taken over. Default: `start`.',
    }),
    deployment: z.enum(['original', 'newest']).optional().openapi({
      description:
        'The version of the workflow that it runs with. With `from=failed` and `newest` steps are taken over as far as the two versions have the same namespaces in the same order. Default: `original`.',
    }),
  }),
  schema: executionIdSchema,
  handle: async ({ engine, who, id, input: { from, deployment } }) => {
    const request = { ...(from === undefined ? {} : { from }), ...(deployment === undefined ? {} : { deployment }) };
    const { executionId } = await engine.executions.replay(who, id, request);
    return { execution_id: executionId };
  },
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
