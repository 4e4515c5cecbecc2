import { TASKS } from '../../db/jobs/tasks.ts';
import type { JobSpec } from '../../db/jobs/add-jobs.ts';

/**
 * The lane job that picks up what of a webhook's deliveries is due and leased by nobody. `runAtMs`
 * default: now.
 */
export function deliverLane(webhookId: string, runAtMs?: number): JobSpec {
  const spec = { task: TASKS.deliverWebhook, payload: { webhookId }, key: `deliver:${webhookId}:now` };
  return runAtMs === undefined ? spec : { ...spec, runAtMs };
}

/**
 * The lane job for a retry. Its key holds its second, so there is one job for a webhook and second,
 * and every retry has one at its own time or up to a second later: never earlier, when the row
 * would not be due, and never replaced by a later one.
 */
export function retryLane(webhookId: string, nextAttemptAtMs: number): JobSpec {
  const second = Math.ceil(nextAttemptAtMs / 1_000);
  return {
    task: TASKS.deliverWebhook,
    payload: { webhookId },
    key: `deliver:${webhookId}:${second}`,
    runAtMs: second * 1_000,
  };
}
