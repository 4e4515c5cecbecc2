import type { Sql } from '../db/database.ts';
import { notifyNodeListens } from '../db/notify-changed.ts';
import type { ListeningNode } from '../db/read-live-nodes.ts';
import { unlockJobs } from '../db/jobs/unlock-jobs.ts';

/**
 * Inserts a node's row before its first lease: a lease whose node has no row counts as a dead
 * node's. `id` is new at every start of a process; `encryptionKeyId` as in LiveNode.
 */
export async function registerNode(
  sql: Sql,
  node: { id: string; role: string; encryptionKeyId?: string } & Partial<ListeningNode>,
): Promise<void> {
  const { id, role, encryptionKeyId = null, addresses = [], ports = [] } = node;
  await sql`
    insert into nodes (id, role, encryption_key_id, addresses, ports)
    values (${id}, ${role}, ${encryptionKeyId}, ${addresses}::text[], ${ports}::int4[])`;
  if (ports.length > 0) await notifyNodeListens(sql);
}

/**
 * Notes which graphile-worker pool is the node's, so that its locked jobs can be unlocked when the
 * node is dead. Left to graphile-worker they would stay locked for four hours. `ended` is the one
 * it had before: what that left locked is free.
 */
export async function recordJobPool(sql: Sql, nodeId: string, poolId: string, ended?: string): Promise<void> {
  await sql`update nodes set job_pool = ${poolId} where id = ${nodeId}`;
  if (ended !== undefined) await unlockJobs(sql, [ended]);
}
