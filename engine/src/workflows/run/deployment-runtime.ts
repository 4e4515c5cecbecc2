import type { RunFault } from '@headwater/sandbox-runtime';
import { hasExpression } from '@headwater/shared';
import { createRecentReads, type RecentReads } from '../../fairness/index.ts';
import type { HeldBundle, HoldBundle, RecordedProps } from '../../runs/index.ts';
import { createUnkeptRedactor, type SecretValue, type UnkeptRedactor } from '../../secrets/index.ts';
import { openProps, type PropOpener, secretsIn, type SourceProp } from '../../props/index.ts';
import type { Sql } from '../../db/index.ts';
import {
  type DeploymentRow,
  readDeploymentRuntime,
  readWorkflowState,
  type StepComponent,
  type WorkflowState,
} from './read-workflow-runtime.sql.ts';
import type { Deployment, Step } from '../deployment.ts';
import { staticPropsOf } from './recorded-props.ts';

/** A step made ready to run. */
export interface StepRuntime {
  id: string;
  namespace: string;
  accountId: string;
  /** Steps of one deployment with the same code share a warm isolate. */
  isolateKey: string;
  /**
   * Undefined where the component is not there any more. Read for each run: all of a version may be
   * more than a node can hold.
   */
  holdBundle: () => Promise<HeldBundle | undefined>;
  props: Record<string, SourceProp>;
  /** Values of secret props. */
  secrets: SecretValue[];
  /** Takes the values of secret props out of texts; absent where there are none. */
  redactor?: UnkeptRedactor;
  /** Record of the props without an expression, the same for all executions. */
  staticProps: RecordedProps | undefined;
  /** Environment variables that its props name. */
  env: readonly string[];
  /** As in Step. */
  retries?: number;
  onError?: 'continue';
  /** The reason why it cannot run at all; absent if it can. */
  fault?: RunFault;
}

/** A version of a workflow made ready to run. It never changes. */
export interface DeploymentRuntime extends Omit<Deployment, 'steps'> {
  steps: StepRuntime[];
}

export interface WorkflowRuntimes {
  /** Current state of a workflow. */
  state: RecentReads<WorkflowState>;
  deployments: Pick<RecentReads<DeploymentRuntime>, 'get'>;
}

const MAX_WORKFLOWS = 5_000;
const MAX_DEPLOYMENTS = 500;
/**
 * One tenant's versions may be large: they never take the node's memory, nor the room of others.
 */
const MAX_DEPLOYMENT_CHARS = 64 * 1024 * 1024;

/**
 * Keeps the most recently used ones. `state.forget` after a change of the workflow, on every node
 * (LISTEN).
 */
export function createWorkflowRuntimes(sql: Sql, opener: PropOpener, holdBundle: HoldBundle): WorkflowRuntimes {
  const deployments = createRecentReads<{ runtime: DeploymentRuntime; chars: number }>({
    async read(id) {
      const row = await readDeploymentRuntime(sql, id);
      return row && { runtime: deploymentRuntimeOf(row, opener, holdBundle), chars: row.chars };
    },
    accountOf: ({ runtime }) => runtime.accountId,
    maxCount: MAX_DEPLOYMENTS,
    maxWeight: MAX_DEPLOYMENT_CHARS,
    weightOf: ({ chars }) => chars,
  });
  return {
    state: createRecentReads({
      read: (id) => readWorkflowState(sql, id),
      accountOf: ({ accountId }) => accountId,
      maxCount: MAX_WORKFLOWS,
    }),
    deployments: { get: async (id) => (await deployments.get(id))?.runtime },
  };
}

/** A version made ready, stored or not. */
export function deploymentRuntimeOf(
  row: Omit<DeploymentRow, 'chars'>,
  opener: PropOpener,
  holdBundle: HoldBundle,
): DeploymentRuntime {
  const { components, ...deployment } = row;
  const steps = deployment.steps.map((step, position) =>
    stepRuntimeOf(deployment, step, components[position], { opener, holdBundle }),
  );
  return { ...deployment, steps };
}

function stepRuntimeOf(
  { id: deploymentId, accountId }: Deployment,
  step: Step,
  component: StepComponent | undefined,
  { opener, holdBundle }: { opener: PropOpener; holdBundle: HoldBundle },
): StepRuntime {
  const { id, namespace, env, configuredProps: configured, retries, onError } = step;
  const policy = { ...(retries === undefined ? {} : { retries }), ...(onError === undefined ? {} : { onError }) };
  const staticProps = staticPropsOf(configured);
  const own = { id, namespace, accountId, env, ...policy, staticProps };
  const base = { ...own, holdBundle: () => holdBundle(accountId, step.componentId) };
  if (component === undefined)
    return { ...base, isolateKey: deploymentId, props: {}, secrets: [], fault: missingComponentFault(namespace) };
  const { bundleHash: hash, configurableProps: definitions } = component;
  const types = new Map(definitions.map(({ name, type }) => [name, type]));
  const { props, unopened } = openProps(opener, { accountId, definitions, configured, endpoints: {} });
  const secrets = secretsIn(configured, props).filter(({ value }) => !hasExpression(value));
  const redactor = createUnkeptRedactor(secrets);
  return {
    ...base,
    // Without a colon: none of the steps is a newer revision of another.
    isolateKey: `${deploymentId}/${hash}`,
    props: Object.fromEntries(
      Object.entries(props).map(([name, prop]) => [name, withTemplates(prop, types.get(name))]),
    ),
    secrets,
    ...(redactor === undefined ? {} : { redactor }),
    ...(unopened.length === 0 ? {} : { fault: unopenedFault(unopened) }),
  };
}

function withTemplates(prop: SourceProp, type: string | undefined): SourceProp {
  const value = prop.kind === 'http-request' ? prop.request : prop.kind === 'value' ? prop.value : undefined;
  return hasExpression(value) ? { kind: 'template', value, ...(type === undefined ? {} : { type }) } : prop;
}

export function missingComponentFault(namespace: string): RunFault {
  return { code: 'INTERNAL', message: `The component of the step ${namespace} is not there any more` };
}

function unopenedFault(unopened: readonly string[]): RunFault {
  const names = unopened.join(', ');
  return { code: 'INTERNAL', message: `The stored secret of the prop ${names} cannot be opened; set it again` };
}
