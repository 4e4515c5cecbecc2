import { limitTimeShare } from '../runs/index.ts';
import { freeLostJobs, type Sql } from '../db/index.ts';
import { deleteOldEmailCounts } from '../outbox/index.ts';
import { deleteExpiredRecords } from '../data-stores/index.ts';
import { deleteExpiredDynamicProps } from '../props/index.ts';
import { requeueOverdueTimers } from './requeue.sql.ts';
import { requeueOverdueWaits } from '../workflows/index.ts';
import { requeueWaiting } from './requeue-waiting.ts';

/** How long an invocation or a due delivery may wait for its lane before one is queued anew. */
const STALLED_AFTER_MS = 30_000;

/**
 * A worker has its answer by then, and the job is done. Lanes and ticks take a fraction of a
 * second. A node has told which pool is its own by `strayAfterMs`.
 */
const LOST_JOBS = { strayAfterMs: 10_000, lostAfterMs: 30_000 };

/** `maintain`, plus the scans of all jobs, which are limited to a small share of the time. */
export function createMaintenance(sql: Sql): () => Promise<void> {
  const freeJobs = limitTimeShare(async () => {
    await freeLostJobs(sql, LOST_JOBS);
    await requeueOverdueTimers(sql, STALLED_AFTER_MS);
  });
  return async () => {
    await freeJobs();
    await maintain(sql);
  };
}

/**
 * Queues invocations, deliveries and waits that have lost their lane or job. Deletes old email
 * counts, expired records and expired dynamic props.
 */
async function maintain(sql: Sql): Promise<void> {
  await requeueWaiting(sql, STALLED_AFTER_MS);
  await deleteOldEmailCounts(sql);
  await requeueOverdueWaits(sql, STALLED_AFTER_MS);
  await deleteExpiredRecords(sql);
  await deleteExpiredDynamicProps(sql);
}
