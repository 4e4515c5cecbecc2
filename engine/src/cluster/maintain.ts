import { limitTimeShare } from '../runs/limit-time-share.ts';
import type { Sql } from '../db/database.ts';
import { deleteOldEmailCounts } from '../outbox/transports/email/count-email.sql.ts';
import { deleteExpiredRecords } from '../data-stores/delete-records.sql.ts';
import { deleteExpiredDynamicProps } from '../props/dynamic-props.sql.ts';
import { requeueOverdueTimers } from './requeue.sql.ts';
import { freeLostJobs } from '../db/jobs/unlock-jobs.ts';
import { requeueOverdueWaits } from '../workflows/run/wake-executions.sql.ts';
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
