import { newId } from '@headwater/shared';
import type { Sql } from '../../engine/src/db/database.ts';
import { addRunLanes } from '../../engine/src/runs/invocations.sql.ts';
import { notifySourceChanged } from '../../engine/src/db/notify-changed.ts';

export interface TurnSettings {
  concurrency?: number;
  throttle?: { limit: number; intervalSeconds: number };
  queueLimit?: number;
}

/** A workflow without steps that starts its executions in turn. */
export async function insertTurnWorkflow(sql: Sql, accountId: string, settings: TurnSettings): Promise<string> {
  const id = newId('workflow');
  await sql`
    insert into emitters (id, account_id, user_id, name, name_slug, kind, in_turn, deployed_at)
    select ${id}, account_id, id, 'w', ${id}, 'workflow', true, now() from users where account_id = ${accountId} limit 1`;
  await sql`insert into emitter_state (emitter_id, account_id) values (${id}, ${accountId})`;
  await deploySettings(sql, accountId, id, settings);
  return id;
}

/** A version with other settings. */
export async function deploySettings(sql: Sql, accountId: string, id: string, settings: TurnSettings): Promise<void> {
  const deploymentId = newId('deployment');
  await sql`
    insert into deployments (id, account_id, workflow_id, user_id, version, triggers, steps, settings)
    select ${deploymentId}, ${accountId}, ${id}, ${accountId}, count(*) + 1, '[]', '[]', ${JSON.stringify(settings)}::text::jsonb
    from deployments where workflow_id = ${id}`;
  await sql`update emitters set deployment_id = ${deploymentId} where id = ${id}`;
}

/**
 * A version with these settings, which is the current one from now on, as deploying it would make
 * it.
 */
export async function putSettings(sql: Sql, id: string, settings: TurnSettings): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      with changed as (
        insert into deployments (id, account_id, workflow_id, user_id, version, triggers, steps, settings)
        select ${newId('deployment')}, d.account_id, d.workflow_id, d.user_id, d.version + 1, d.triggers, d.steps,
          (d.settings - 'concurrency' - 'throttle' - 'queueLimit') || ${JSON.stringify(settings)}::text::jsonb
        from emitters e join deployments d on d.id = e.deployment_id where e.id = ${id}
        returning id
      )
      update emitters set in_turn = true, deployment_id = changed.id from changed where emitters.id = ${id}`;
    await addRunLanes(tx, [id]);
    await notifySourceChanged(tx, id);
  });
}
