import { z } from '@hono/zod-openapi';
import { LIMITS } from '@headwater/shared';
import { workflowTestSchema } from '@headwater/shared/contract';
import { type Endpoint, itemEndpoint } from '../endpoint.ts';
import { given } from '../parameters/given.ts';
import { textParameter } from '../parameters/schemas.ts';
import { stepsOf, stepsParameter } from '../parameters/workflow-input.ts';
import { presentWorkflowTest } from '../resources/workflow-test.ts';

const namespace = textParameter('maxNamespaceChars').optional();

export function workflowTestEndpoints(): Endpoint[] {
  return [testWorkflow, testUnsavedWorkflow];
}

const whatATestDoes = `Steps run as in an execution, with \`$.context.JIT\` true: requests that they make are made, and what they write to data stores is written. Nothing else stays: no execution, no event, no send, and no client gets an answer; all of that is in the answer here. A delay or suspension is over at once, and a step is neither tried nor run again. ${LIMITS.maxWorkflowTestsPerTenant} tests of an account run at a time.`;

const testParameters = {
  event: z
    .unknown()
    .optional()
    .openapi({ description: 'The event of the trigger. Default: that of `event_id`, or an empty object.' }),
  event_id: textParameter('maxNameChars').optional().openapi({
    description:
      'A past event: an execution of the workflow (`exec_…`), or an event of a source or workflow of the account (`<emitter id>-<event id>`, its `emit_id`).',
  }),
  exports: z.record(z.string(), z.record(z.string(), z.unknown())).optional().openapi({
    description:
      'What `steps` has of steps that do not run, by namespace: exports, and what it returned as `$return_value`. Of those that are not named: what the execution of `event_id` has completed.',
  }),
  step: namespace.openapi({
    description: 'Only this step. It finds the steps before it as `exports` and `event_id` say.',
  }),
  up_to: namespace.openapi({ description: 'The steps to this one, from the first. Default: all steps.' }),
};

const testWorkflow = itemEndpoint({
  method: 'post',
  path: '/v1/workflows/{id}/test',
  name: 'testWorkflow',
  changesLike: '/v1/workflows/{id}',
  takesTurn: false,
  tag: 'Workflows',
  summary: 'Run steps of a workflow without an execution',
  description: whatATestDoes,
  pathId: 'The id of the workflow (`p_…`).',
  parameters: z.object({
    ...testParameters,
    deployment_id: textParameter('maxNameChars')
      .optional()
      .openapi({ description: 'A version of the workflow. Default: the newest, whether it is deployed or not.' }),
    steps: stepsParameter.openapi({
      description:
        'Steps to run instead of those of the version, given whole as an update would be given them: of a step that is there, by `id` or `namespace`, what is not named stays. Neither a version nor a component is saved.',
    }),
  }),
  schema: workflowTestSchema,
  handle: async ({ engine, who, id, input }) => {
    const test = { ...testOf(input), ...given({ deploymentId: input.deployment_id }) };
    return presentWorkflowTest(await engine.workflowTests.run(who, id, test));
  },
});

const testUnsavedWorkflow = itemEndpoint({
  method: 'post',
  path: '/v1/workflow_tests',
  name: 'testUnsavedWorkflow',
  takesTurn: false,
  tag: 'Workflows',
  summary: 'Run steps of a workflow that is not saved',
  description: `${whatATestDoes} Neither a workflow nor a component is saved.`,
  parameters: z.object({
    ...testParameters,
    steps: stepsParameter.openapi({ description: 'As `POST /v1/workflows` takes them.' }),
  }),
  schema: workflowTestSchema,
  handle: async ({ engine, who, input }) =>
    presentWorkflowTest(await engine.workflowTests.run(who, undefined, testOf(input))),
});

type TestInput = z.output<z.ZodObject<typeof testParameters>> & { steps?: z.output<typeof stepsParameter> };

function testOf({ event, event_id: eventId, exports, step, up_to: upTo, steps }: TestInput) {
  return given({ event, eventId, exports, step, upTo, steps: stepsOf(steps) });
}
