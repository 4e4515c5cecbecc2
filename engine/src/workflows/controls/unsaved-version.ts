import {
  createUnsavedComponents,
  readBundleHashes,
  type UnsavedComponents,
  type UnsavedComponentsOptions,
} from '../../components/index.ts';
import { type Principal, type StepInputRecord, throwFields } from '../../contract/index.ts';
import type { HoldBundle } from '../../runs/index.ts';
import { type DecideContext, mergeDefinitions, type PropSealer } from '../../props/index.ts';
import type { Sql } from '../../db/index.ts';
import { readDeploymentRuntime, type StepComponent } from '../run/read-workflow-runtime.sql.ts';
import { findStepProblems } from '../check-namespaces.ts';
import type { Deployment, Step } from '../deployment.ts';
import { planSteps } from '../plan-steps.ts';
import { type DeploymentRuntime, deploymentRuntimeOf } from '../run/deployment-runtime.ts';

export interface UnsavedVersionOptions {
  sql: Sql;
  sealer: PropSealer;
  components: UnsavedComponentsOptions['components'];
  readBundle: UnsavedComponentsOptions['readBundle'];
  holdBundle: HoldBundle;
  /** Asks components that are not saved. */
  additionalPropsOf: (components: UnsavedComponents) => DecideContext['additionalProps'];
}

/**
 * A version of a workflow with other steps, as an update with them would make it of the version
 * `of`: checked, bundled and ready to run, and nothing of it stored. Throws what such an update
 * throws; undefined where there is no such version.
 */
export async function makeUnsavedVersion(
  options: UnsavedVersionOptions,
  who: Principal,
  of: string | Deployment,
  inputs: readonly StepInputRecord[],
): Promise<DeploymentRuntime | undefined> {
  const { sql, sealer } = options;
  const base = typeof of === 'string' ? await readDeploymentRuntime(sql, of) : of;
  if (base === undefined) return undefined;
  throwFields(findStepProblems(inputs, base.steps));
  const components = createUnsavedComponents(options);
  const context = { db: { sql }, sealer, components, additionalProps: options.additionalPropsOf(components) };
  const steps = await planSteps(context, who, inputs, base.steps);
  const ready = await componentsOf(sql, components, steps);
  return deploymentRuntimeOf({ ...base, steps, components: ready }, sealer, async (accountId, componentId) => {
    const bundle = components.bundleOf(componentId);
    return bundle === undefined ? options.holdBundle(accountId, componentId) : { bundle, letGo: () => undefined };
  });
}

async function componentsOf(
  sql: Sql,
  components: UnsavedComponents,
  steps: readonly Step[],
): Promise<(StepComponent | undefined)[]> {
  const stored = await readBundleHashes(
    sql,
    steps.map(({ componentId }) => componentId),
  );
  return steps.map(({ componentId, dynamicProps }) => {
    const bundleHash = components.bundleOf(componentId)?.hash ?? stored.get(componentId);
    if (bundleHash === undefined) return undefined;
    const { configurableProps } = components.get(componentId);
    return { bundleHash, configurableProps: mergeDefinitions(configurableProps, dynamicProps) };
  });
}
