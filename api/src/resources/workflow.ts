import { z } from '@hono/zod-openapi';
import type {
  DeploymentRecord,
  StepRecord,
  TriggerRecord,
  WorkflowRecord,
  WorkflowSettings,
  WorkflowSummary,
} from '@headwater/engine';
import { lateList, lateRecord } from '../raw-json.ts';
import { epochSeconds, secondsField } from './time.ts';

const triggerSchema = z
  .object({
    id: z.string().openapi({ description: '`hi_…`, `ti_…`, or the id of the source.' }),
    type: z
      .enum(['http', 'timer', 'source'])
      .describe('`http`: a request to `endpoint_url`. `timer`: a schedule. `source`: the events of a source.'),
    endpoint_url: z.string().nullable().optional().openapi({
      description: 'Of `http`; null in a version that does not run and has a trigger of its own.',
    }),
    custom_response: z.boolean().optional().openapi({ description: 'Of `http`.' }),
    interval_seconds: z.int().optional().openapi({ description: 'Of `timer`.' }),
    cron: z.string().optional().openapi({ description: 'Of `timer`.' }),
    timezone: z.string().optional().openapi({ description: 'Of `timer`.' }),
    source_id: z.string().optional().openapi({ description: 'Of `source`.' }),
    event_name: z.string().optional().openapi({ description: "Of `source`: the channel; '' is the default channel." }),
    deployed: z.boolean().optional().openapi({
      description: 'Of `source`: it was deployed with the workflow, and is deleted with it.',
    }),
  })
  .openapi('Trigger');

const stepSchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the step.', example: 'c_1vZ8kQ0aB3xYpL9mWc2T' }),
    namespace: z.string().describe('The name of the step within the workflow: `steps.<namespace>` in expressions.'),
    component_id: z.string().describe('The saved component (`sc_…`) that the step runs.'),
    props: z.record(z.string(), z.unknown()).openapi({ description: 'Secret values are left out.' }),
    configurable_props: z.array(z.record(z.string(), z.unknown())).openapi({
      description: 'Its props: those of its component, and those that `additionalProps` has made of its values.',
    }),
    retries: z
      .int()
      .nullable()
      .openapi({ description: 'How often it is tried again after a failure; null: as often as the settings say.' }),
    on_error: z
      .enum(['fail', 'continue'])
      .openapi({ description: 'What follows its last failure: the execution fails, or the next step runs.' }),
  })
  .openapi('Step');

const settingsSchema = z
  .object({
    auto_deploy: z.boolean().describe('true: an update is deployed at once.'),
    timeout_seconds: z.int().nullable().openapi({
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
  .openapi('WorkflowSettings');

export const workflowSummarySchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the workflow.', example: 'p_1vZ8kQ0aB3xYpL9mWc2T' }),
    user_id: z.string().describe('The user who made it.'),
    name: z.string().describe('Its name.'),
    name_slug: z.string().openapi({ description: 'Unique among the workflows of the account.' }),
    active: z.boolean().describe('false: it is stopped, and nothing starts it.'),
    deployment_id: z
      .string()
      .openapi({ description: 'The version that is shown: the current one, unless another was asked for.' }),
    version: z.int().openapi({ description: 'Its number, from 1.' }),
    latest_deployment_id: z.string().openapi({ description: 'The version that was saved last.' }),
    triggers: z.array(triggerSchema).describe('What starts it.'),
    settings: settingsSchema,
    created_at: secondsField('When it was made.'),
    updated_at: secondsField('When it last changed.'),
  })
  .openapi('WorkflowSummary');

export const workflowSchema = workflowSummarySchema
  .extend({ steps: z.array(stepSchema).describe('Its steps, in their order.') })
  .openapi('Workflow');

export const startedExecutionSchema = z
  .object({
    execution_id: z
      .string()
      .openapi({ description: 'The execution, for `GET /v1/executions/{id}`.', example: 'exec_1vZ8kQ0aB3xYpL9mWc2T' }),
  })
  .openapi('StartedExecution');

export const deploymentSchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the version.', example: 'd_1vZ8kQ0aB3xYpL9mWc2T' }),
    version: z.int().describe('Its number, from 1.'),
    is_current: z.boolean().openapi({ description: 'New executions are of this version.' }),
    created_at: secondsField('When it was saved.'),
  })
  .openapi('Deployment');

export function presentWorkflow(workflow: WorkflowRecord): z.output<typeof workflowSchema> {
  return { ...presentWorkflowSummary(workflow), steps: lateList(workflow.steps.map(presentStep)) };
}

export function presentWorkflowSummary(workflow: WorkflowSummary): z.output<typeof workflowSummarySchema> {
  return {
    id: workflow.id,
    user_id: workflow.userId,
    name: workflow.name,
    name_slug: workflow.nameSlug,
    active: workflow.active,
    deployment_id: workflow.deploymentId,
    version: workflow.version,
    latest_deployment_id: workflow.latestDeploymentId,
    triggers: workflow.triggers.map(presentTrigger),
    settings: presentSettings(workflow.settings),
    created_at: epochSeconds(workflow.createdAt),
    updated_at: epochSeconds(workflow.updatedAt),
  };
}

/** Without what is not of its type: what is shown can be given back in an update. */
function presentTrigger(trigger: TriggerRecord): z.output<typeof triggerSchema> {
  const { id, type } = trigger;
  switch (type) {
    case 'http':
      return { id, type, endpoint_url: trigger.endpointUrl ?? null, custom_response: trigger.customResponse };
    case 'timer': {
      const { intervalSeconds, cron, timezone } = trigger.schedule;
      if (cron === undefined) return { id, type, interval_seconds: intervalSeconds };
      return { id, type, cron, ...(timezone === undefined ? {} : { timezone }) };
    }
    case 'source':
      return {
        id,
        type,
        source_id: trigger.sourceId,
        event_name: trigger.eventName,
        deployed: trigger.deployed,
      };
  }
}

function presentStep(step: StepRecord): z.output<typeof stepSchema> {
  return lateRecord({
    id: step.id,
    namespace: step.namespace,
    component_id: step.componentId,
    // Together they may be megabytes, which would be made into text in one piece.
    props: lateRecord(step.configuredProps),
    configurable_props: lateList(step.configurableProps),
    retries: step.retries ?? null,
    on_error: step.onError,
  });
}

function presentSettings(settings: WorkflowSettings): z.output<typeof settingsSchema> {
  const { throttle } = settings;
  return {
    auto_deploy: settings.autoDeploy,
    timeout_seconds: settings.timeoutSeconds ?? null,
    memory_mb: settings.memoryMb,
    concurrency: settings.concurrency ?? null,
    throttle: throttle === undefined ? null : { limit: throttle.limit, interval_seconds: throttle.intervalSeconds },
    queue_limit: settings.queueLimit ?? null,
    preflight: settings.preflight ?? 'allow',
    retries: settings.retries,
  };
}

export function presentDeployment(deployment: DeploymentRecord): z.output<typeof deploymentSchema> {
  return {
    id: deployment.id,
    version: deployment.version,
    is_current: deployment.isCurrent,
    created_at: epochSeconds(deployment.createdAt),
  };
}
