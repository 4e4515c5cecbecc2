import { addJobs, type JobSpec, type Sql, TASKS, type WebhookBacklogPayload } from '../../db/index.ts';
import { cancelDeliveries } from './cancel-deliveries.sql.ts';
import { deliverLane } from './deliver-lane.ts';
import { orderHeld } from './order-held.sql.ts';
import { FIRST_ORDERED, releaseParked } from './release-parked.sql.ts';

/** One turn of the job: its worker is needed by others. */
const TURN_MS = 1_000;

/** The job that goes on with a change of a webhook that has too many deliveries for a request. */
export function backlogJob(payload: WebhookBacklogPayload): JobSpec {
  return { task: TASKS.webhookBacklog, payload, key: `${payload.act}:${payload.webhookId}` };
}

/** The job that makes all that is parked of a webhook due: see `releaseParked`. */
export function releaseJob(accountId: string, webhookId: string): JobSpec {
  return backlogJob({ accountId, webhookId, act: 'release', after: FIRST_ORDERED });
}

/** One turn; another job covers the rest. May be repeated at any time, by any node. */
export async function workOffBacklog(sql: Sql, payload: WebhookBacklogPayload): Promise<void> {
  const bounds = { maxMs: TURN_MS };
  if (payload.act === 'cancel') {
    const { until } = await cancelDeliveries(sql, { ...payload, ...bounds }, (work) => work());
    if (until !== undefined) await addJobs(sql, [backlogJob({ ...payload, until })]);
    return;
  }
  if (payload.act === 'release') {
    const after = await releaseParked(sql, payload.webhookId, { after: payload.after, ...bounds });
    if (after !== undefined) await addJobs(sql, [backlogJob({ ...payload, after })]);
    return;
  }
  const after = await orderHeld(sql, payload.accountId, payload.webhookId, { after: payload.after, ...bounds });
  // The lane may have looked before these deliveries were due.
  const lane = deliverLane(payload.webhookId);
  await addJobs(sql, after === undefined ? [lane] : [lane, backlogJob({ ...payload, after })]);
}
