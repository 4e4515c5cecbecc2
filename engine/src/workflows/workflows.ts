import { HeadwaterError, newId, notFound } from '@headwater/shared';
import { createBoundedTurns } from '../fairness/index.ts';
import {
  type CallerTrace,
  checkRevision,
  type Page,
  type PageRequest,
  type Principal,
  type WorkflowInput,
  type WorkflowRecord,
  type Workflows,
} from '../contract/index.ts';
import { type AccountRoom, checkRoom } from '../accounts/index.ts';
import { withComponents } from '../components/index.ts';
import { newInvocationId, runEventText } from '../events/index.ts';
import { nameSlugOf } from '../sources/index.ts';
import { changeWorkflow, createWorkflow, type WorkflowChange } from './change-workflow.sql.ts';
import { cancelWaitingExecutions, deleteWorkflow } from './delete-workflow.sql.ts';
import type { NewTurn } from './controls/insert-in-turn.sql.ts';
import { namedLike, readPage } from '../db/index.ts';
import {
  readDeploymentsById,
  readOwnSources,
  readStepDefinitions,
  readWorkflow,
  readWorkflowsById,
  type WorkflowRow,
} from './read-workflows.sql.ts';
import type { AccountBacklogs, Intake } from '../runs/index.ts';
import type { Sealer } from '../secrets/index.ts';
import type { PropSealer } from '../props/index.ts';
import type { TraceContexts } from '../tracing/index.ts';
import { type SourceContext, withSources } from './deploy-sources.ts';
import { checkName, type PlanContext, planVersion } from './plan-version.ts';
import { stepsUnderCurrentKey } from './steps-under-current-key.ts';
import { workflowRecordOf, workflowSummaryOf } from './workflow-record.ts';

export interface WorkflowContext extends PlanContext, SourceContext {
  room: AccountRoom;
  sealer: PropSealer & Pick<Sealer, 'rewrap' | 'currentPrefix'>;
  backlogs: Pick<AccountBacklogs, 'queue'>;
  intake: Pick<Intake, 'add'>;
  traces: Pick<TraceContexts, 'keep'>;
  /** As InTurnIntake.queue. */
  queueInTurn: (turn: NewTurn) => Promise<void>;
  /**
   * Drops what this node has in memory of the workflow; other nodes hear of it from the database.
   */
  forget: (workflowId: string) => void;
}

const DEFAULT_NAME = 'Workflow';

/** Workflows as the API sees them. */
export function createWorkflows(context: WorkflowContext): Workflows {
  const { sql } = context.db;
  const remove = createRemoval(context);
  return {
    async create(who, input) {
      checkName(input.name);
      // An early check: only the insertion is exact. Otherwise its steps would be bundled and its
      // sources deployed first.
      await checkRoom(sql, who.accountId, await context.room.limits(who.accountId), 'maxWorkflows');
      const id = await withComponents(context, who, (own) => create(own, who, input));
      return show(context, who, await find(context, who, id));
    },
    get: async (who, id, deploymentId) => show(context, who, await find(context, who, id, deploymentId)),
    async list(who, { query: text, ...request }) {
      const named = namedLike(sql, ['name', 'name_slug', 'id'], text);
      const where = sql`and kind = 'workflow' and deleted_at is null ${named}`;
      const query = { table: 'emitters', accountId: who.accountId, where, order: 'created' } as const;
      const { ids, ...page } = await readPage(sql, query, request);
      const rows = await readWorkflowsById(sql, who.accountId, ids);
      return { ...page, items: rows.map((row) => workflowSummaryOf(context.sealer, row)) };
    },
    async update(who, id, { active, ...input }, expected) {
      checkName(input.name);
      const current = await find(context, who, id);
      checkRevision(`workflow ${id}`, current.revision, expected);
      const { name } = input;
      const change = {
        userId: who.userId,
        ...(expected === undefined ? {} : { isConditional: true as const }),
        ...(active === undefined ? {} : { active }),
        ...(name === undefined || name === current.name ? {} : { name, nameSlug: nameSlugOf(name, 'workflow') }),
      };
      await withComponents(context, who, (own) => update(own, who, current, input, change));
      return show(context, who, await find(context, who, id));
    },
    async deploy(who, id, deploymentId) {
      const { revision } = await find(context, who, id, deploymentId);
      const change = { userId: who.userId, deployedId: deploymentId };
      await apply(context, who, id, revision, change);
      context.forget(id);
      return show(context, who, await find(context, who, id));
    },
    delete: remove,
    run: (who, id, event, caller) => run(context, who, id, { event, caller }),
    deployments: (who, id, request) => listDeployments(context, who, id, request),
  };
}

async function find(
  { db }: WorkflowContext,
  { accountId }: Principal,
  id: string,
  deploymentId?: string,
): Promise<WorkflowRow> {
  const row = id.includes('\0') ? undefined : await readWorkflow(db.sql, accountId, id);
  if (row === undefined) throw notFound('workflow', id);
  if (deploymentId === undefined) return row;
  const version = deploymentId.includes('\0') ? undefined : await readWorkflow(db.sql, accountId, id, deploymentId);
  if (version === undefined) throw notFound('deployment', deploymentId);
  return version;
}

/** Without its steps, which may be megabytes. */
async function findBare(
  { db }: WorkflowContext,
  { accountId }: Principal,
  id: string,
): Promise<Omit<WorkflowRow, 'steps'>> {
  const [row] = id.includes('\0') ? [] : await readWorkflowsById(db.sql, accountId, [id]);
  if (row === undefined) throw notFound('workflow', id);
  return row;
}

async function show({ db, sealer }: WorkflowContext, who: Principal, row: WorkflowRow): Promise<WorkflowRecord> {
  const ids = row.steps.map(({ componentId }) => componentId);
  return workflowRecordOf(sealer, row, await readStepDefinitions(db.sql, who.accountId, ids));
}

async function create(context: WorkflowContext, who: Principal, input: WorkflowInput): Promise<string> {
  const { accountId, userId } = who;
  const { name = DEFAULT_NAME } = input;
  const planned = await planVersion(context, who, input, undefined);
  const workflowId = newId('workflow');
  await withSources(context, who, planned, async (triggers) => {
    const steps = stepsUnderCurrentKey(context.sealer, accountId, planned.steps);
    const deployment = { ...planned, steps, triggers, accountId, workflowId, version: 1 };
    const nameSlug = nameSlugOf(name, 'workflow');
    const workflow = { userId, name, nameSlug, active: true, deployment };
    await context.room.make(accountId, (limits) => createWorkflow(context.db.sql, workflow, limits));
  });
  return workflowId;
}

async function update(
  context: WorkflowContext,
  who: Principal,
  current: WorkflowRow,
  input: WorkflowInput,
  change: WorkflowChange,
): Promise<void> {
  const { id: workflowId, revision } = current;
  const { accountId } = who;
  if ((input.triggers ?? input.steps ?? input.settings) === undefined)
    await apply(context, who, workflowId, revision, change);
  else {
    const before = await findBase(context, who, current);
    const planned = await planVersion(context, who, input, before);
    await withSources(context, who, planned, (triggers) => {
      const steps = stepsUnderCurrentKey(context.sealer, accountId, planned.steps);
      const deployment = { ...planned, steps, triggers, accountId, workflowId };
      return apply(context, who, workflowId, revision, {
        ...change,
        saved: { deployment, isCurrent: planned.settings.autoDeploy },
      });
    });
  }
  context.forget(workflowId);
}

function apply(
  { db, room }: WorkflowContext,
  { accountId }: Principal,
  workflowId: string,
  revision: number,
  change: WorkflowChange,
): Promise<void> {
  return room.make(accountId, (limits) => changeWorkflow(db.sql, accountId, workflowId, revision, change, limits));
}

/** Base of a new version: the version that waits to be deployed, or else the current one. */
async function findBase(context: WorkflowContext, who: Principal, current: WorkflowRow): Promise<WorkflowRow> {
  if (current.latest_id === current.current_id) return current;
  const latest = await find(context, who, current.id, current.latest_id);
  return latest.settings.autoDeploy ? current : latest;
}

/**
 * Deletions of an account follow each other: those of one workflow would wait for its row, each
 * with one of the node's few connections.
 */
function createRemoval(context: WorkflowContext): Workflows['delete'] {
  const { db, forget } = context;
  const turns = createBoundedTurns('maxDeletionsPerTenant', 'deletions of workflows');
  return async (who, id, expected) => {
    const { accountId } = who;
    await findBare(context, who, id);
    await turns.run(accountId, async () => {
      // Those that have waited for the first to end find nothing to do.
      const { revision } = await findBare(context, who, id);
      // Once: its sources go first, and what comes while they do is deleted with it.
      checkRevision(`workflow ${id}`, revision, expected);
      for (let outcome = 'has-sources'; outcome !== 'deleted'; ) {
        await removeSources(context, who, id);
        await cancelWaitingExecutions(db.sql, accountId, id);
        outcome = await deleteWorkflow(db.sql, accountId, id);
        if (outcome === 'absent') throw notFound('workflow', id);
      }
    });
    forget(id);
  };
}

/** Before the workflow: where one cannot be deleted, it is there to be deleted again. */
async function removeSources({ db, sources }: WorkflowContext, who: Principal, id: string): Promise<void> {
  for (const sourceId of await readOwnSources(db.sql, who.accountId, id)) {
    await sources.delete(who, sourceId).catch((error: unknown) => {
      // A concurrent request has deleted it.
      if (!(error instanceof HeadwaterError) || error.code !== 'NOT_FOUND') throw error;
    });
  }
}

async function run(
  context: WorkflowContext,
  who: Principal,
  id: string,
  { event = {}, caller }: { event?: unknown; caller?: CallerTrace | undefined },
): Promise<{ executionId: string }> {
  const row = await findBare(context, who, id);
  if (!row.active) throw new HeadwaterError('CONFLICT', `Workflow ${id} is not active; set active to true to run it`);
  const text = runEventText(event);
  await context.limits.get(who.accountId);
  const executionId = newInvocationId(id);
  await context.traces.keep(who.accountId, executionId, caller);
  const invocation = { id: executionId, accountId: who.accountId, sourceId: id, kind: 'manual' as const, event: text };
  if (!row.in_turn) {
    await context.intake.add(invocation);
    return { executionId };
  }
  const { queueLimit } = row.settings;
  await context.backlogs.queue(who.accountId, text.length, () => context.queueInTurn({ ...invocation, queueLimit }));
  return { executionId };
}

async function listDeployments(
  context: WorkflowContext,
  who: Principal,
  id: string,
  request: PageRequest,
): Promise<Page<{ id: string; version: number; isCurrent: boolean; createdAt: Date }>> {
  const { sql } = context.db;
  await findBare(context, who, id);
  const where = sql`and workflow_id = ${id}`;
  const query = { table: 'deployments', accountId: who.accountId, where, order: 'created' } as const;
  const { ids, ...page } = await readPage(sql, query, request);
  const rows = await readDeploymentsById(sql, who.accountId, ids);
  const items = rows.map((row) => ({
    id: row.id,
    version: row.version,
    isCurrent: row.is_current,
    createdAt: new Date(row.created_ms),
  }));
  return { ...page, items };
}
