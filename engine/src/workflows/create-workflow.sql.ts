import type { AccountLimits } from '@headwater/shared';
import { startsInTurn } from './check-settings.ts';
import type { Deployment } from './deployment.ts';
import { chooseSlug } from '../db/choose-slug.ts';
import type { Sql } from '../db/database.ts';
import { insertDeployment, makeCurrent, type VersionLimits } from './put-deployment.sql.ts';
import { requireRoom } from '../accounts/require-room.sql.ts';
import { subscribeNewEmitter } from '../outbox/subscriptions/subscribe-new-emitter.sql.ts';

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
