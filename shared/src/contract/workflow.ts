import { z } from 'zod';
import { secondsField } from './fields.ts';

export const triggerSchema = z
  .object({
    id: z.string().meta({ description: '`hi_…`, `ti_…`, or the id of the source.' }),
    type: z
      .enum(['http', 'timer', 'source'])
      .describe('`http`: a request to `endpoint_url`. `timer`: a schedule. `source`: the events of a source.'),
    endpoint_url: z.string().nullable().optional().meta({
      description: 'Of `http`; null in a version that does not run and has a trigger of its own.',
    }),
    custom_response: z.boolean().optional().meta({ description: 'Of `http`.' }),
    interval_seconds: z.int().optional().meta({ description: 'Of `timer`.' }),
    cron: z.string().optional().meta({ description: 'Of `timer`.' }),
    timezone: z.string().optional().meta({ description: 'Of `timer`.' }),
    source_id: z.string().optional().meta({ description: 'Of `source`.' }),
    event_name: z.string().optional().meta({ description: "Of `source`: the channel; '' is the default channel." }),
    deployed: z.boolean().optional().meta({
      description: 'Of `source`: it was deployed with the workflow, and is deleted with it.',
    }),
  })
  .meta({ id: 'Trigger' });

export const workflowStepSchema = z
  .object({
    id: z.string().meta({ description: 'The id of the step.', example: 'c_1vZ8kQ0aB3xYpL9mWc2T' }),
    namespace: z.string().describe('The name of the step within the workflow: `steps.<namespace>` in expressions.'),
    component_id: z.string().describe('The saved component (`sc_…`) that the step runs.'),
    props: z.record(z.string(), z.unknown()).meta({ description: 'Secret values are left out.' }),
    configurable_props: z.array(z.record(z.string(), z.unknown())).meta({
      description: 'Its props: those of its component, and those that `additionalProps` has made of its values.',
    }),
    retries: z
      .int()
      .nullable()
      .meta({ description: 'How often it is tried again after a failure; null: as often as the settings say.' }),
    on_error: z
      .enum(['fail', 'continue'])
      .meta({ description: 'What follows its last failure: the execution fails, or the next step runs.' }),
  })
  .meta({ id: 'Step' });

export const workflowSettingsSchema = z
  .object({
    auto_deploy: z.boolean().describe('true: an update is deployed at once.'),
    timeout_seconds: z.int().nullable().meta({
      description: 'null: 30 where HTTP starts an execution, else 60, or what the limits of the account say.',
    }),
    memory_mb: z.int().describe('Memory of a run, in MB.'),
    concurrency: z
      .int()
      .nullable()
      .describe('Executions that run at the same time. 1: in order. Null: as many as the account may.'),
    throttle: z
      .object({
        limit: z.int().describe('Executions that may start in a window. 0: the workflow pauses.'),
        interval_seconds: z.int().describe('The length of the window.'),
      })
      .nullable()
      .describe('How many executions may start in a window. Null: no bound.'),
    queue_limit: z
      .int()
      .nullable()
      .describe('Executions that may wait for their turn. Null: as many as the account may.'),
    preflight: z
      .enum(['allow', 'run'])
      .describe(
        'What becomes of a CORS preflight to its endpoints. `allow`: it is answered. `run`: it starts an execution.',
      ),
    retries: z.int().describe('How often a failed step is tried again.'),
  })
  .meta({ id: 'WorkflowSettings' });

export const workflowSummarySchema = z
  .object({
    id: z.string().meta({ description: 'The id of the workflow.', example: 'p_1vZ8kQ0aB3xYpL9mWc2T' }),
    user_id: z.string().describe('The user who made it.'),
    name: z.string().describe('Its name.'),
    name_slug: z.string().meta({ description: 'Unique among the workflows of the account.' }),
    active: z.boolean().describe('false: it is stopped, and nothing starts it.'),
    deployment_id: z
      .string()
      .meta({ description: 'The version that is shown: the current one, unless another was asked for.' }),
    version: z.int().meta({ description: 'Its number, from 1.' }),
    latest_deployment_id: z.string().meta({ description: 'The version that was saved last.' }),
    triggers: z.array(triggerSchema).describe('What starts it.'),
    settings: workflowSettingsSchema,
    created_at: secondsField('When it was made.'),
    updated_at: secondsField('When it last changed.'),
  })
  .meta({ id: 'WorkflowSummary' });

export const workflowSchema = workflowSummarySchema
  .and(z.object({ steps: z.array(workflowStepSchema).describe('Its steps, in their order.') }))
  .meta({ id: 'Workflow' });

export const startedExecutionSchema = z
  .object({
    execution_id: z
      .string()
      .meta({ description: 'The execution, for `GET /v1/executions/{id}`.', example: 'exec_1vZ8kQ0aB3xYpL9mWc2T' }),
  })
  .meta({ id: 'StartedExecution' });

export const deploymentSchema = z
  .object({
    id: z.string().meta({ description: 'The id of the version.', example: 'd_1vZ8kQ0aB3xYpL9mWc2T' }),
    version: z.int().describe('Its number, from 1.'),
    is_current: z.boolean().meta({ description: 'New executions are of this version.' }),
    created_at: secondsField('When it was saved.'),
  })
  .meta({ id: 'Deployment' });
