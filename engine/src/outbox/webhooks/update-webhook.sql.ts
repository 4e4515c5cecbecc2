import { and, type Database, eq, inArray, notifyWebhookChanged, sql, webhooks } from '../../db/index.ts';
import type { ExpectedRevisions, RequestOptions, WebhookUpdate } from '../../contract/index.ts';
import { addJobIn, wakeLane } from '../deliveries/wake-lane.sql.ts';
import { releaseJob } from '../deliveries/webhook-backlog.ts';
import type { WebhookRow } from './read-webhooks.sql.ts';
import { addNoticeIn, type WebhookNotice } from './webhook-notices.sql.ts';

/**
 * `sealedHeaders`, `sealedAuth`, `sealedClientKey` replace the unsealed fields; null removes one.
 */
export type WebhookChange = Omit<WebhookUpdate, 'headers' | 'auth' | 'clientKey' | keyof RequestOptions> & {
  sealedHeaders?: string | null;
  sealedAuth?: string | null;
  sealedClientKey?: string | null;
  /** Those that are null are removed, and those that are absent stay. */
  options?: { [Name in keyof RequestOptions]?: RequestOptions[Name] | null };
};

/** Whether what nodes hold for the webhook in memory is out of date after it. */
export function changesDelivery(change: WebhookChange): boolean {
  const { url, format, sealedHeaders, retryScheduleSeconds, timeoutSeconds, active } = change;
  const { sealedAuth, sealedClientKey, options, transformId } = change;
  const ofRequests = [url, format, sealedHeaders, retryScheduleSeconds, timeoutSeconds];
  ofRequests.push(sealedAuth, sealedClientKey, options && JSON.stringify(options), transformId);
  return ofRequests.some((setting) => setting !== undefined) || governs(change) || active === false;
}

export function ofRevision(expected: ExpectedRevisions) {
  return expected === undefined ? undefined : inArray(webhooks.revision, [...expected]);
}

/** A started webhook drains its held deliveries; a stopped one holds the rest of them. */
function drainOf({ active, drainPerSecond }: WebhookChange) {
  if (active === undefined) return {};
  if (!active) return { drainBefore: null, drainPerSecond: null };
  const wasHeld = sql`not ${webhooks.active}`;
  const perSecond =
    drainPerSecond === undefined
      ? sql`case when ${wasHeld} then null else ${webhooks.drainPerSecond} end`
      : drainPerSecond;
  const begins = drainPerSecond === undefined || drainPerSecond === null ? wasHeld : sql`true`;
  return {
    drainBefore: sql`case when ${begins} then now() else ${webhooks.drainBefore} end`,
    drainPerSecond: perSecond,
    pacedUntil: sql`case when ${wasHeld} then null else ${webhooks.pacedUntil} end`,
  };
}

function governanceOf({ ordering, orderingKey, ratePerSecond, maxInFlight, adaptiveRate }: WebhookChange) {
  return {
    ...(ordering === undefined ? {} : { ordering }),
    ...(orderingKey === undefined ? {} : { orderingKey }),
    ...(ratePerSecond === undefined ? {} : { ratePerSecond, pacedUntil: null }),
    ...(maxInFlight === undefined ? {} : { maxInFlight }),
    ...(adaptiveRate === undefined
      ? {}
      : { adaptiveRate: adaptiveRate ? sql`coalesce(${webhooks.adaptiveRate}, '{}')` : null }),
  };
}

const governs = (change: WebhookChange) => Object.keys(governanceOf(change)).length > 0;

function switched({ id, accountId, name, url, active }: WebhookRow): WebhookNotice {
  const about = { webhook_id: id, name, url };
  if (active) return { type: 'webhook.enabled', accountId, about };
  return { type: 'webhook.disabled', accountId, about: { ...about, reason: 'stopped', failing_since_ms: null } };
}

function optionsWith(options: NonNullable<WebhookChange['options']>) {
  const changed = sql`coalesce(${webhooks.requestOptions}, '{}') || ${JSON.stringify(options)}::text::jsonb`;
  return sql`nullif(jsonb_strip_nulls(${changed}), '{}')`;
}

/**
 * Changes the given fields, and notifies all nodes if the change affects deliveries in memory. An
 * empty name or description is removed. Pending deliveries of an inactive webhook stay and are
 * held; a started webhook gets its lane. Undefined if the account has no such webhook, or it has
 * none of these revisions.
 */
export async function updateWebhook(
  db: Database,
  accountId: string,
  id: string,
  change: WebhookChange,
  expected?: ExpectedRevisions,
): Promise<WebhookRow | undefined> {
  return db.orm.transaction(async (tx) => {
    const [before] =
      change.active === undefined
        ? []
        : await tx
            .select({ active: webhooks.active })
            .from(webhooks)
            .where(and(eq(webhooks.accountId, accountId), eq(webhooks.id, id)))
            .for('no key update');
    const [row] = await tx
      .update(webhooks)
      .set({
        ...(change.url === undefined ? {} : { url: change.url }),
        ...(change.format === undefined ? {} : { format: change.format }),
        ...(change.active === undefined ? {} : { active: change.active }),
        ...(change.name === undefined ? {} : { name: change.name || null }),
        ...(change.description === undefined ? {} : { description: change.description || null }),
        ...(change.sealedHeaders === undefined ? {} : { requestHeaders: change.sealedHeaders }),
        ...(change.sealedAuth === undefined ? {} : { requestAuth: change.sealedAuth }),
        ...(change.sealedClientKey === undefined ? {} : { clientKey: change.sealedClientKey }),
        ...(change.options === undefined ? {} : { requestOptions: optionsWith(change.options) }),
        ...(change.retryScheduleSeconds === undefined ? {} : { retryScheduleSeconds: change.retryScheduleSeconds }),
        ...(change.timeoutSeconds === undefined ? {} : { timeoutSeconds: change.timeoutSeconds }),
        ...(change.transformId === undefined ? {} : { transformId: change.transformId }),
        ...drainOf(change),
        ...governanceOf(change),
        ...(change.disableAfterHours === undefined ? {} : { disableAfterHours: change.disableAfterHours }),
        ...(change.disableFailuresOverHours === undefined
          ? {}
          : { disableFailuresOverHours: change.disableFailuresOverHours }),
        // The caller that starts or stops the webhook knows the reason.
        ...(change.active === undefined ? {} : { disabledAt: null, disabledReason: null }),
        ...(change.active === true ? { failingSince: null } : {}),
        updatedAt: sql`now()`,
        revision: sql`${webhooks.revision} + 1`,
      })
      .where(and(eq(webhooks.accountId, accountId), eq(webhooks.id, id), ofRevision(expected)))
      .returning();
    if (row !== undefined && changesDelivery(change)) await notifyWebhookChanged(tx, id);
    if (row !== undefined && (row.drainBefore !== null || governs(change))) await wakeLane(tx, id);
    // A delivery that waits for others of its key waits anew where that still has to be.
    if (row !== undefined && change.ordering !== undefined) await addJobIn(tx, releaseJob(accountId, id));
    if (row !== undefined && before !== undefined && before.active !== row.active) await addNoticeIn(tx, switched(row));
    return row;
  });
}
