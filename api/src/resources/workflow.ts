import type {
  DeploymentRecord,
  StepRecord,
  TriggerRecord,
  WorkflowRecord,
  WorkflowSettings,
  WorkflowSummary,
} from '@headwater/engine';
import type {
  deploymentSchema,
  Shown,
  triggerSchema,
  workflowSchema,
  workflowSettingsSchema,
  workflowStepSchema,
  workflowSummarySchema,
} from '@headwater/shared/contract';
import { lateList, lateRecord } from '../raw-json.ts';
import { epochSeconds } from './time.ts';

export function presentWorkflow(workflow: WorkflowRecord): Shown<typeof workflowSchema> {
  return { ...presentWorkflowSummary(workflow), steps: lateList(workflow.steps.map(presentStep)) };
}

export function presentWorkflowSummary(workflow: WorkflowSummary): Shown<typeof workflowSummarySchema> {
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
function presentTrigger(trigger: TriggerRecord): Shown<typeof triggerSchema> {
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

function presentStep(step: StepRecord): Shown<typeof workflowStepSchema> {
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

function presentSettings(settings: WorkflowSettings): Shown<typeof workflowSettingsSchema> {
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

export function presentDeployment(deployment: DeploymentRecord): Shown<typeof deploymentSchema> {
  return {
    id: deployment.id,
    version: deployment.version,
    is_current: deployment.isCurrent,
    created_at: epochSeconds(deployment.createdAt),
  };
}
