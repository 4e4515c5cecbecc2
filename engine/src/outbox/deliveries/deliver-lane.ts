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
 * The lane job that picks up what is due of all webhooks of an account, now or at `runAtMs`. Its
 * key then holds its second, so there is one job for an account and second, however many webhooks
 * retry in it. A retry starts at its own time or up to a second later: never earlier, when the row
 * would not be due, and a later job never replaces its own.
 */
export function accountLane(accountId: string, runAtMs?: number): JobSpec {
  const spec = { task: TASKS.deliverAccount, payload: { accountId } };
  if (runAtMs === undefined) return { ...spec, key: `deliver:${accountId}:now` };
  const second = Math.ceil(runAtMs / 1_000);
  return { ...spec, key: `deliver:${accountId}:${second}`, runAtMs: second * 1_000 };
}

/** Webhooks of one account that have lane jobs of their own. More share the job of the account. */
const MAX_OWN_LANES = 8;

interface Waiting {
  accountId: string;
  webhookId: string;
}

/** The lane jobs for deliveries that wait for any node. `runAtMs` default: now. */
export function lanesOfWaiting(waiting: readonly Waiting[], runAtMs?: number): JobSpec[] {
  const byAccount = Map.groupBy(waiting, ({ accountId }) => accountId);
  return [...byAccount].flatMap(([accountId, own]) => {
    const webhookIds = new Set(own.map(({ webhookId }) => webhookId));
    if (webhookIds.size > MAX_OWN_LANES) return [accountLane(accountId, runAtMs)];
    return [...webhookIds].map((webhookId) => deliverLane(webhookId, runAtMs));
  });
}
