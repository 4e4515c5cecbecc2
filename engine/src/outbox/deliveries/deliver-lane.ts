import { type DeliverWebhookPayload, type JobSpec, TASKS } from '../../db/index.ts';

/** The lane job that claims a webhook's due deliveries without a lease. `runAtMs` default: now. */
export function deliverLane(webhookId: string, runAtMs?: number): JobSpec {
  const spec = { task: TASKS.deliverWebhook, payload: { webhookId }, key: `deliver:${webhookId}:now` };
  return runAtMs === undefined ? spec : { ...spec, runAtMs };
}

/**
 * The same after a retry by hand, beside it: its webhook does not wait for the turn of those that
 * fail.
 */
export function retriedLane(webhookId: string, runAtMs?: number): JobSpec {
  const payload: DeliverWebhookPayload = { webhookId, byHand: true };
  return { ...deliverLane(webhookId, runAtMs), payload, key: `deliver:${webhookId}:hand` };
}

/**
 * The lane job that claims due deliveries of all webhooks of an account, now or at `runAtMs`. With
 * `runAtMs`, the key holds its second: one job per account and second, however many webhooks retry
 * in it. A retry starts at its own time or up to a second later. It never starts earlier, when the
 * row would not be due. A later job never replaces its own.
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
