import type { ChangeLease } from './change-lease.ts';
import type { Sql } from './database.ts';
import { noteUnusedCode } from './delete-unused-code.ts';
import { notifySourceChanged } from './notify-changed.ts';
import { dropTimers } from './put-timers.ts';

/**
 * Ends a source: no endpoint, timer, subscription, waiting invocation or secret is left. Its events stay until deliveries
 * of them are through; its row stays as the name of what they came from. Answers false where the lease was lost: then nothing is done.
 */
export async function deleteSource(sql: Sql, lease: ChangeLease): Promise<boolean> {
  const { accountId, sourceId: id, changeId, nodeId } = lease;
  return sql.begin(async (tx) => {
    await noteUnusedCode(tx, id);
    const rows = await tx`
      update sources set deleted_at = now(), active = false, busy_until = null, busy_by = null, change_id = null,
        configured_props = '{}', dynamic_props = '[]'
      where account_id = ${accountId} and id = ${id} and change_id = ${changeId} and busy_by = ${nodeId} returning id`;
    if (rows.length === 0) return false;
    await tx`delete from endpoints where account_id = ${accountId} and source_id = ${id}`;
    await dropTimers(tx, id);
    await tx`delete from invocations where account_id = ${accountId} and source_id = ${id}`;
    // Before the subscriptions: see subscribeNewEmitter.
    await tx`delete from auto_subscriptions where account_id = ${accountId} and listener_id = ${id}`;
    await tx`
      delete from subscriptions where account_id = ${accountId} and (emitter_id = ${id} or listener_id = ${id})`;
    await tx`delete from component_db where account_id = ${accountId} and source_id = ${id}`;
    await tx`delete from emitter_state where account_id = ${accountId} and emitter_id = ${id}`;
    await notifySourceChanged(tx, id);
    return true;
  });
}

/** Removes a source whose deployment failed, with all that its hooks may have left: nobody has ever seen it. */
export async function dropUndeployedSource(sql: Sql, lease: ChangeLease): Promise<void> {
  const { accountId, sourceId: id } = lease;
  if (!(await deleteSource(sql, lease))) return;
  await sql.begin(async (tx) => {
    const rows = await tx`
      delete from sources where account_id = ${accountId} and id = ${id} and deployed_at is null returning id`;
    if (rows.length > 0) await tx`delete from events where account_id = ${accountId} and emitter_id = ${id}`;
  });
}
