import { type AccountLimits, HeadwaterError, notFound } from '@headwater/shared';
import { lockAccount, requireRoom } from '../accounts/index.ts';
import { changedMeanwhile } from '../contract/index.ts';
import { chooseSlug, type Sql, type Transaction } from '../db/index.ts';
import { subscribeNewEmitter } from '../outbox/index.ts';
import { startsInTurn } from './check-settings.ts';
import type { Deployment, Trigger } from './deployment.ts';
import { insertDeployment, makeCurrent, putActivity, type VersionLimits } from './put-deployment.sql.ts';

export interface NewWorkflow {
  userId: string;
  name: string;
  /** If another workflow has it, the next free slug is used. */
  nameSlug: string;
  active: boolean;
  /** Its first version, which runs. */
  deployment: Deployment;
}

type WorkflowLimits = VersionLimits & Pick<AccountLimits, 'maxWorkflows'>;

/**
 * Inserts a workflow with everything that it has. Throws CONFLICT as `makeCurrent` does, and where
 * the account has no room for it.
 */
export async function createWorkflow(
  sql: Sql,
  { userId, name, nameSlug, active, deployment }: NewWorkflow,
  limits: WorkflowLimits,
): Promise<void> {
  const { accountId, workflowId, settings } = deployment;
  await sql.begin(async (tx) => {
    await requireRoom(tx, accountId, limits, 'maxWorkflows');
    const slug = await chooseSlug(tx, accountId, nameSlug, { kind: 'workflow' });
    await tx`
      insert into emitters (id, kind, account_id, user_id, name, name_slug, active, deployment_id, deployed_at)
      values (${workflowId}, 'workflow', ${accountId}, ${userId}, ${name}, ${slug}, ${active}, ${deployment.id}, now())`;
    await tx`insert into emitter_state (emitter_id, account_id) values (${workflowId}, ${accountId})`;
    await insertDeployment(tx, userId, deployment, limits);
    const { preflight = 'allow' } = settings;
    const inTurn = startsInTurn(settings);
    await makeCurrent(tx, { deployment, triggersBefore: [], active, inTurn, preflight, limits });
    await subscribeNewEmitter(tx, accountId, workflowId, limits);
  });
}

export interface WorkflowChange {
  userId: string;
  name?: string;
  nameSlug?: string;
  active?: boolean;
  /** A new version, without its number. `isCurrent`: it runs from now on. */
  saved?: { deployment: Omit<Deployment, 'version'>; isCurrent: boolean };
  /** The caller named the revision: a mismatch throws PRECONDITION_FAILED. */
  isConditional?: true;
  /** A version that is there, to be the current one. */
  deployedId?: string;
}

interface LockedWorkflow {
  active: boolean;
  revision: number;
  triggers: Trigger[];
}

/**
 * Changes a workflow in one transaction. `revision`: the one that the change expects; throws
 * CONFLICT if the workflow has another. Throws NOT_FOUND, and CONFLICT as `insertDeployment` and
 * `makeCurrent` do.
 */
export async function changeWorkflow(
  sql: Sql,
  accountId: string,
  workflowId: string,
  revision: number,
  change: WorkflowChange,
  limits: VersionLimits,
): Promise<void> {
  await sql.begin((tx) => applyChange(tx, accountId, workflowId, revision, change, limits)).catch(refuseDeadlock);
}

const DEADLOCK = '40P01';

/** Two workflows that start each other and change at the same time. */
function refuseDeadlock(error: unknown): never {
  if ((error as { code?: unknown }).code !== DEADLOCK) throw error;
  throw new HeadwaterError('CONFLICT', 'Another change came at the same time; try again', { cause: error });
}

async function applyChange(
  tx: Transaction,
  accountId: string,
  workflowId: string,
  revision: number,
  change: WorkflowChange,
  limits: VersionLimits,
): Promise<void> {
  if ((change.saved ?? change.deployedId) !== undefined) await lockAccount(tx, accountId);
  const before = await lockWorkflow(tx, accountId, workflowId);
  if (before.revision !== revision) {
    if (change.isConditional === true) throw changedMeanwhile(`workflow ${workflowId}`);
    const message = `Another change of workflow ${workflowId} came first; look at it and try again`;
    throw new HeadwaterError('CONFLICT', message);
  }
  const active = change.active ?? before.active;
  await putName(tx, accountId, workflowId, change);
  await tx`
      update emitters set active = ${active}, revision = revision + 1, updated_at = now()
      where account_id = ${accountId} and id = ${workflowId}`;
  const current = await chooseCurrent(tx, accountId, workflowId, change, limits);
  if (current === undefined) {
    await putActivity(tx, { accountId, workflowId, triggers: before.triggers, active });
    return;
  }
  const inTurn = startsInTurn(current.settings);
  const { preflight = 'allow' } = current.settings;
  await makeCurrent(tx, { deployment: current, triggersBefore: before.triggers, active, inTurn, preflight, limits });
}

async function lockWorkflow(tx: Transaction, accountId: string, id: string): Promise<LockedWorkflow> {
  const [row] = await tx<(Omit<LockedWorkflow, 'triggers'> & { deployment_id: string })[]>`
    select active, revision, deployment_id from emitters
    where account_id = ${accountId} and id = ${id} and kind = 'workflow' and deleted_at is null
    for update`;
  if (row === undefined) throw notFound('workflow', id);
  // Not joined above: after a wait for another change, that statement would not see the new
  // version.
  const [current] = await tx<Pick<LockedWorkflow, 'triggers'>[]>`
    select triggers from deployments where account_id = ${accountId} and id = ${row.deployment_id}`;
  return { active: row.active, revision: row.revision, triggers: current?.triggers ?? [] };
}

async function putName(tx: Transaction, accountId: string, id: string, { name, nameSlug }: WorkflowChange) {
  if (name === undefined || nameSlug === undefined) return;
  const slug = await chooseSlug(tx, accountId, nameSlug, { kind: 'workflow', id });
  await tx`update emitters set name = ${name}, name_slug = ${slug} where account_id = ${accountId} and id = ${id}`;
}

/** The version that the change makes the current one, if it makes one. */
async function chooseCurrent(
  tx: Transaction,
  accountId: string,
  workflowId: string,
  { userId, saved, deployedId }: WorkflowChange,
  limits: VersionLimits,
): Promise<Deployment | undefined> {
  if (saved !== undefined) {
    const [last] = await tx<{ version: number }[]>`
      select max(version) as version from deployments where account_id = ${accountId} and workflow_id = ${workflowId}`;
    const deployment = { ...saved.deployment, version: (last?.version ?? 0) + 1 };
    await insertDeployment(tx, userId, deployment, limits);
    return saved.isCurrent ? deployment : undefined;
  }
  if (deployedId === undefined) return undefined;
  const [row] = await tx<Deployment[]>`
    select id, workflow_id as "workflowId", account_id as "accountId", version, triggers, steps, settings
    from deployments where account_id = ${accountId} and workflow_id = ${workflowId} and id = ${deployedId}`;
  if (row === undefined) throw notFound('deployment', deployedId);
  return row;
}
