import { newId } from '@headwater/shared';
import { requeueWaiting } from '../../engine/src/cluster/requeue-waiting.ts';
import type { Sql } from '../../engine/src/db/database.ts';
import {
  heartbeatNode,
  recordJobPool,
  registerNode,
  releaseDeadNodes,
  releaseNode,
} from '../../engine/src/cluster/nodes.sql.ts';
import { COMPLETE_JOBS, RETURN_JOBS } from '../../engine/src/db/jobs/job-statements.ts';
import { freeLostJobs } from '../../engine/src/db/jobs/unlock-jobs.ts';

/*
 * Births and deaths of the nodes of a model, by the functions of the product. A node that crashes
 * loses its memory; one that is declared dead while it lives keeps it, and goes on.
 */

export interface NodeIdentity {
  id: string;
  /** Pool of its job worker. */
  pool: string;
}

export interface JobState {
  id: string;
  key: string;
  pool: string | null;
  runAtMs: number;
}

/** Longer than a history takes. */
const LOST_JOB_MS = 3_600_000;

let counter = 0;

export async function startNode(sql: Sql): Promise<NodeIdentity> {
  const node = { id: newId('node'), pool: `pool-${counter++}` };
  await registerNode(sql, { id: node.id, role: 'all' });
  await recordJobPool(sql, node.id, node.pool);
  return node;
}

/** `withMemory`: a process that has just started. */
export function createNodeMoves<N extends NodeIdentity>(nodes: N[], withMemory: (identity: NodeIdentity) => N) {
  return {
    async start(sql: Sql): Promise<void> {
      nodes.push(withMemory(await startNode(sql)));
    },

    /** The process ends and another one starts in its place; its rows stay leased. */
    async crash(sql: Sql, at: number): Promise<void> {
      nodes[at] = withMemory(await startNode(sql));
    },

    /** As if the node had not been seen for long. */
    silence: (sql: Sql, nodeId: string) =>
      sql`update nodes set seen_at = seen_at - interval '1 hour' where id = ${nodeId}`,

    /**
     * Declares silent nodes dead, and frees jobs of unknown workers, as the node's maintenance
     * does.
     */
    async recover(sql: Sql, node: NodeIdentity): Promise<void> {
      const released = await releaseDeadNodes(sql, { deadAfterMs: 60_000, exceptId: node.id });
      if (released.nodes.length > 0) await requeueWaiting(sql, 0);
      await freeLostJobs(sql, { strayAfterMs: 0, lostAfterMs: LOST_JOB_MS });
    },

    /** Detects that the node was declared dead, and takes a new id. */
    async beat(sql: Sql, node: NodeIdentity): Promise<void> {
      if (await heartbeatNode(sql, node.id)) return;
      Object.assign(node, await startNode(sql));
    },

    async stop(sql: Sql, at: number): Promise<void> {
      const node = nodes[at];
      if (node === undefined) return;
      await releaseNode(sql, node.id);
      nodes[at] = withMemory(await startNode(sql));
    },
  };
}

/** One job, as a worker of the node's does it: where the work fails the job is returned. */
export async function workJob(sql: Sql, { pool }: NodeIdentity, job: JobState, work: () => Promise<void>) {
  await sql`
    update graphile_worker._private_jobs set locked_by = ${pool}, locked_at = now()
    where id = ${job.id}::bigint and locked_by is null`;
  try {
    await work();
  } catch (error) {
    await sql.unsafe(RETURN_JOBS.text, [[job.id], pool]);
    throw error;
  }
  await sql.unsafe(COMPLETE_JOBS.text, [[job.id], pool]);
}
