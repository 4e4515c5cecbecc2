import { deploymentSchema, startedExecutionSchema, workflowSchema } from '@headwater/shared/contract';
import { z } from '@hono/zod-openapi';
import { emptyEndpoint, type Endpoint, itemEndpoint, listEndpoint, versionedEndpoint } from '../endpoint.ts';
import { given, pageOf } from '../parameters/given.ts';
import { idParameter, pageParameters } from '../parameters/schemas.ts';
import { workflowInputOf, workflowParameters } from '../parameters/workflow-input.ts';
import { mapPage, versioned } from '../resources/page.ts';
import { presentDeployment, presentWorkflow } from '../resources/workflow.ts';

const tag = 'Workflows';
const pathId = 'The id of the workflow (`p_…`).';
const path = '/v1/workflows/{id}';

export function workflowEndpoints(): Endpoint[] {
  return [createWorkflow, getWorkflow, updateWorkflow, deleteWorkflow, runWorkflow, deployWorkflow, listDeployments];
}

const createWorkflow = itemEndpoint({
  method: 'post',
  path: '/v1/workflows',
  name: 'createWorkflow',
  takesTurn: false,
  tag,
  summary: 'Make a workflow',
  description:
    'Saves components where code is given and deploys the sources of triggers. It is there with everything, or, where anything is refused, not at all.',
  parameters: z.object(workflowParameters),
  schema: workflowSchema,
  handle: async ({ engine, who, input }) => presentWorkflow(await engine.workflows.create(who, workflowInputOf(input))),
});

const getWorkflow = versionedEndpoint({
  method: 'get',
  path,
  name: 'getWorkflow',
  tag,
  summary: 'A workflow',
  description: 'With its steps and triggers. `etag` is for `if-match` of a change.',
  pathId,
  parameters: z.object({
    deployment_id: idParameter('The version to show (`d_…`). Default: the current one.').optional(),
  }),
  schema: workflowSchema,
  handle: async ({ engine, who, id, input }) =>
    versioned(await engine.workflows.get(who, id, input.deployment_id), presentWorkflow),
});

const updateWorkflow = versionedEndpoint({
  method: 'put',
  path,
  name: 'updateWorkflow',
  takesTurn: false,
  tag,
  summary: 'Change a workflow, or stop and start it',
  description:
    'Triggers, steps and settings make a new version, which runs from then on unless `auto_deploy` is false; executions under way end with the version that they began with. What is not given stays as it is: that of a version that waits to be deployed, else of the current one. `triggers` and `steps` are given whole.',
  pathId,
  parameters: z.object({
    ...workflowParameters,
    active: z.boolean().optional().openapi({
      description: 'false stops the workflow: what was accepted waits, timers stop, endpoints answer 404.',
    }),
  }),
  schema: workflowSchema,
  handle: async ({ engine, who, id, input, expected }) => {
    const change = { ...workflowInputOf(input), ...given({ active: input.active }) };
    return versioned(await engine.workflows.update(who, id, change, expected), presentWorkflow);
  },
});

const deleteWorkflow = emptyEndpoint({
  method: 'delete',
  path,
  name: 'deleteWorkflow',
  takesTurn: false,
  tag,
  summary: 'Delete a workflow',
  description:
    'With the sources that it has deployed, unless something else is subscribed to them by their id. What waits is dropped; records of executions stay until they are old.',
  isVersioned: true,
  pathId,
  parameters: z.object({}),
  status: 204,
  handle: async ({ engine, who, id, expected }) => engine.workflows.delete(who, id, expected),
});

const runWorkflow = itemEndpoint({
  method: 'post',
  path: '/v1/workflows/{id}/run',
  name: 'runWorkflow',
  takesTurn: false,
  tag,
  summary: 'Run a workflow now',
  description: 'The execution is queued like any other, and waits for its turn. Its id is also in `x-headwater-run`.',
  pathId,
  parameters: z.object({
    event: z.unknown().optional().openapi({ description: 'What `steps.trigger.event` is. Default: an empty object.' }),
  }),
  schema: startedExecutionSchema,
  runIdOf: (run) => run.execution_id,
  handle: async ({ engine, who, id, input, caller }) => {
    const { executionId } = await engine.workflows.run(who, id, input.event, caller);
    return { execution_id: executionId };
  },
});

const deployWorkflow = itemEndpoint({
  method: 'post',
  path: '/v1/workflows/{id}/deploy',
  name: 'deployWorkflow',
  takesTurn: false,
  tag,
  summary: 'Make a version the current one',
  description: 'One that was saved and waits, or an older one.',
  pathId,
  parameters: z.object({ deployment_id: idParameter('The version (`d_…`).') }),
  schema: workflowSchema,
  handle: async ({ engine, who, id, input }) =>
    presentWorkflow(await engine.workflows.deploy(who, id, input.deployment_id)),
});

const listDeployments = listEndpoint({
  method: 'get',
  path: '/v1/workflows/{id}/deployments',
  name: 'listDeployments',
  tag,
  summary: 'The versions of a workflow, newest first',
  description: 'Each update saves a version, which never changes. Executions end with the version they began with.',
  pathId,
  parameters: z.object(pageParameters),
  schema: deploymentSchema,
  handle: async ({ engine, who, id, input }) =>
    mapPage(await engine.workflows.deployments(who, id, pageOf(input)), presentDeployment),
});
