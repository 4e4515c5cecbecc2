import type { PropDefinition } from '@headwater/shared';
import type { StepRecord, TriggerRecord, WorkflowRecord, WorkflowSummary } from '../contract/index.ts';
import { mergeDefinitions, type PropOpener, publicProps } from '../props/index.ts';
import type { WorkflowRow } from './read-workflows.sql.ts';
import type { Step, Trigger } from './deployment.ts';

/** `definitions`: of the components of its steps, without dynamic ones. */
export function workflowRecordOf(
  opener: PropOpener,
  row: WorkflowRow,
  definitions: ReadonlyMap<string, PropDefinition[]>,
): WorkflowRecord {
  const steps = row.steps.map((step) =>
    stepRecordOf(opener, row.accountId, step, definitions.get(step.componentId) ?? []),
  );
  return { ...workflowSummaryOf(opener, row), steps };
}

export function workflowSummaryOf(opener: PropOpener, row: Omit<WorkflowRow, 'steps'>): WorkflowSummary {
  return {
    id: row.id,
    userId: row.user_id,
    name: row.name,
    nameSlug: row.name_slug,
    active: row.active,
    deploymentId: row.deployment_id,
    version: row.version,
    latestDeploymentId: row.latest_id,
    triggers: row.triggers.map((trigger) => triggerRecordOf(opener, trigger, row.endpoints ?? {})),
    settings: row.settings,
    revision: row.revision,
    createdAt: new Date(row.created_ms),
    updatedAt: new Date(row.updated_ms),
  };
}

function triggerRecordOf(
  opener: PropOpener,
  trigger: Trigger,
  endpoints: Readonly<Record<string, string>>,
): TriggerRecord {
  switch (trigger.type) {
    case 'http': {
      const key = endpoints[trigger.id];
      return { ...trigger, ...(key === undefined ? {} : { endpointUrl: opener.endpointUrl(key) }) };
    }
    case 'timer':
      return trigger;
    case 'source':
      return { ...trigger, deployed: trigger.deployed === true };
  }
}

function stepRecordOf(
  opener: PropOpener,
  accountId: string,
  { id, namespace, componentId, configuredProps, dynamicProps, retries, onError }: Step,
  own: readonly PropDefinition[],
): StepRecord {
  const definitions = mergeDefinitions(own, dynamicProps);
  const configurable = definitions.filter(({ type }) => !type.startsWith('$.'));
  const source = { accountId, definitions: configurable, configured: configuredProps, endpoints: {} };
  const shown = publicProps(opener, source);
  const policy = { ...(retries === undefined ? {} : { retries }), onError: onError ?? ('fail' as const) };
  return { id, namespace, componentId, configuredProps: shown, configurableProps: definitions, ...policy };
}
