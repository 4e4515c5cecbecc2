import { type AccountLimits, createLimiter, HeadwaterError, LIMITS, newId, notFound } from '@headwater/shared';
import type { LimitsCache } from '../../accounts/index.ts';
import type { Principal, WorkflowTest, WorkflowTestRecord, WorkflowTests } from '../../contract/index.ts';
import { runEventText } from '../../events/index.ts';
import type { Sql } from '../../db/index.ts';
import { readNewestDeployment } from '../read-workflows.sql.ts';
import { readEventForTest, readExecutionForTest, type TestEvent } from './read-test-event.sql.ts';
import type { WorkflowState } from '../run/read-workflow-runtime.sql.ts';
import { decideSettings } from '../check-settings.ts';
import type { Deployment } from '../deployment.ts';
import type { DeploymentRuntime, WorkflowRuntimes } from '../run/deployment-runtime.ts';
import { triggerContext, visibleStep } from '../run/execution-context.ts';
import type { StepContext } from '../run/run-step.ts';
import { partWallLimit } from '../run/part-wall-limit.ts';
import type { StepsTask } from '../run/run-steps.ts';
import { playSteps } from './play-steps.ts';
import { makeUnsavedVersion, type UnsavedVersionOptions } from './unsaved-version.ts';

export interface WorkflowTestsOptions extends UnsavedVersionOptions {
  runtimes: WorkflowRuntimes;
  steps: StepContext;
  limits: Pick<LimitsCache, 'get'>;
  /** URLs that `$.flow.suspend` shows; nothing waits for them in a test. */
  waitUrls: (executionId: string, token: string) => { resumeUrl: string; cancelUrl: string };
}

/** How long a test waits for another one of its account to end. */
const MAX_TURN_MS = 10_000;

/** See the contract. */
export function createWorkflowTests(options: WorkflowTestsOptions): WorkflowTests {
  const turns = createLimiter(LIMITS.maxWorkflowTestsPerTenant);
  return {
    async run(who, workflowId, test) {
      const { accountId } = who;
      const workflow =
        workflowId === undefined ? unsavedWorkflow(accountId) : await requireWorkflow(options, accountId, workflowId);
      const end = await turns.take(accountId, AbortSignal.timeout(MAX_TURN_MS));
      if (end === undefined) throw tooManyTests();
      try {
        // Steps that are given are built and asked for their props: that is work as well.
        return await perform(options, await planTest(options, who, workflow, test));
      } finally {
        end();
      }
    },
  };
}

type TestedWorkflow = Pick<WorkflowState, 'workflowId' | 'accountId' | 'name'> & {
  /** Undefined: it is not saved. */
  deploymentId: string | undefined;
};

/** Its id is new and refers to no workflow. */
function unsavedWorkflow(accountId: string): TestedWorkflow {
  return { workflowId: newId('workflow'), accountId, name: 'New workflow', deploymentId: undefined };
}

interface Plan {
  workflow: TestedWorkflow;
  deployment: DeploymentRuntime;
  past: TestEvent;
  /** JSON text of an object each: what `steps` has of steps before instead. */
  exports: ReadonlyMap<string, string>;
  from: number;
  to: number;
}

async function requireWorkflow(
  { runtimes }: WorkflowTestsOptions,
  accountId: string,
  workflowId: string,
): Promise<WorkflowState> {
  const workflow = workflowId.includes('\0') ? undefined : await runtimes.state.get(workflowId);
  if (workflow === undefined || workflow.accountId !== accountId || workflow.deleted)
    throw notFound('workflow', workflowId);
  return workflow;
}

async function planTest(
  options: WorkflowTestsOptions,
  who: Principal,
  workflow: TestedWorkflow,
  test: WorkflowTest,
): Promise<Plan> {
  const deployment = await versionOf(options, who, workflow, test);
  const past = await requireEvent(options.sql, workflow, test);
  const exports = new Map(Object.entries(test.exports ?? {}).map(([name, value]) => [name, JSON.stringify(value)]));
  return { workflow, deployment, past, exports, ...chooseSteps(deployment, test) };
}

async function versionOf(
  options: WorkflowTestsOptions,
  who: Principal,
  workflow: TestedWorkflow,
  { steps, deploymentId: asked }: WorkflowTest,
): Promise<DeploymentRuntime> {
  const { deploymentId: current } = workflow;
  const stored = current === undefined ? undefined : await requireDeployment(options, workflow, current, asked);
  if (steps === undefined && stored !== undefined) return stored;
  const base = stored === undefined ? emptyVersion(workflow, await options.limits.get(who.accountId)) : stored.id;
  const made = await makeUnsavedVersion(options, who, base, steps ?? []);
  if (made === undefined) throw notFound('deployment', stored?.id ?? '');
  return made;
}

function emptyVersion({ workflowId, accountId }: TestedWorkflow, account: AccountLimits): Deployment {
  const { settings } = decideSettings({}, undefined, account);
  return { id: newId('deployment'), workflowId, accountId, version: 0, triggers: [], steps: [], settings };
}

async function requireDeployment(
  { sql, runtimes }: WorkflowTestsOptions,
  { workflowId }: TestedWorkflow,
  current: string,
  asked: string | undefined,
): Promise<DeploymentRuntime> {
  const id = asked ?? (await readNewestDeployment(sql, workflowId)) ?? current;
  const deployment = await runtimes.deployments.get(id);
  if (deployment === undefined || deployment.workflowId !== workflowId) throw notFound('deployment', id);
  return deployment;
}

async function requireEvent(sql: Sql, workflow: TestedWorkflow, test: WorkflowTest): Promise<TestEvent> {
  const { accountId, workflowId } = workflow;
  const given = test.event === undefined ? undefined : runEventText(test.event);
  const { eventId: id } = test;
  if (id === undefined) return { event: given ?? '{}', steps: [] };
  const past = id.startsWith('exec_')
    ? await readExecutionForTest(sql, { accountId, workflowId, id })
    : await readEventForTest(sql, accountId, id);
  if (past === undefined) throw invalid('event_id', `names no execution of ${workflowId} and no event of this account`);
  return given === undefined ? past : { ...past, event: given };
}

function chooseSteps({ steps }: DeploymentRuntime, { step, upTo }: WorkflowTest): { from: number; to: number } {
  if (step !== undefined && upTo !== undefined) throw invalid('step', 'and up_to exclude each other');
  const find = (path: string, namespace: string) => {
    const position = steps.findIndex((one) => one.namespace === namespace);
    if (position >= 0) return position;
    const names = steps.map((one) => one.namespace).join(', ');
    throw invalid(path, `is no step of this version${names === '' ? ', which has none' : `; its steps are ${names}`}`);
  };
  if (step !== undefined) {
    const from = find('step', step);
    return { from, to: from + 1 };
  }
  return { from: 0, to: upTo === undefined ? steps.length : find('up_to', upTo) + 1 };
}

async function perform(options: WorkflowTestsOptions, plan: Plan): Promise<WorkflowTestRecord> {
  const { workflow, deployment, past, exports, from, to } = plan;
  const { nowMs } = options.steps;
  const executionId = newId('execution');
  const context = contextOf(workflow, deployment, past, executionId, nowMs());
  const before = deployment.steps.slice(0, from).map(({ namespace }) => namespace);
  const account = await options.limits.get(workflow.accountId);
  const wall = partWallLimit(deployment, account, 'manual');
  const task: StepsTask = {
    // Live executions keep the isolates that they have warmed.
    deployment: {
      ...deployment,
      steps: deployment.steps.map((step) => ({ ...step, isolateKey: `${step.isolateKey}/test` })),
    },
    executionId,
    event: past.event,
    context,
    done: before.flatMap((namespace) => {
      const given = exports.get(namespace);
      if (given !== undefined) return [{ namespace, exports: given }];
      return past.steps.filter((step) => step.namespace === namespace).map(visibleStep);
    }),
    from,
    to,
    account,
    usedBytes: 0,
    wall,
    jit: true,
  };
  const played = await playSteps(options.steps, task, options.waitUrls(executionId, 'test'));
  const { deploymentId } = workflow;
  return {
    ...(deploymentId === undefined ? {} : { deploymentId: deployment.id }),
    event: past.event,
    context,
    ...played,
  };
}

/**
 * As the past execution had it, but under an id of its own; else as if it were started by hand or
 * by the event.
 */
function contextOf(
  workflow: TestedWorkflow,
  { id: deploymentId, triggers }: DeploymentRuntime,
  past: TestEvent,
  id: string,
  nowMs: number,
): string {
  if (past.context !== undefined)
    return JSON.stringify({ ...(JSON.parse(past.context) as object), id, deployment_id: deploymentId });
  const started = { id, kind: past.cause === undefined ? ('manual' as const) : ('event' as const), cause: past.cause };
  return triggerContext(workflow, started, { deploymentId, triggers, replay: false, nowMs });
}

function tooManyTests(): HeadwaterError {
  const value = LIMITS.maxWorkflowTestsPerTenant;
  const message = `${value} tests of workflows of this account are under way; try again later`;
  const limit = { name: 'maxWorkflowTestsPerTenant', value, used: value + 1 } as const;
  return new HeadwaterError('RATE_LIMITED', message, { retryAfterSeconds: 1, limit });
}

function invalid(path: string, message: string): HeadwaterError {
  return new HeadwaterError('INVALID_REQUEST', `${path} ${message}`, { fields: [{ path, message }] });
}
