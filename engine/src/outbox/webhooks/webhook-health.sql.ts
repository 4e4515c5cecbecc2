import { idFloor, LIMITS } from '@headwater/shared';
import { type Transaction, WEBHOOK_CHANGED_CHANNEL } from '../../db/index.ts';
import { addExhaustedNotices, addNotice } from './webhook-notices.sql.ts';

/** The health of webhooks, by their attempts. */
export interface HealthSigns {
  /** Webhooks, by id. */
  failing: string[];
  /** Their receivers have answered `410 Gone`. */
  gone: string[];
  /** One of their attempts succeeded, of which it was known that those before had failed. */
  recovered: string[];
  /** No attempt of these is left. */
  exhausted: { webhookId: string; deliveryId: string }[];
}

/** Failures with more time between them are no outage of the receiver. */
const APART_HOURS = 24;
/** A failure is noted no more often: their rows are locked for it. */
const NOTED_EVERY_HOURS = 1;

/** The newest deliveries that are looked at before a webhook is disabled. */
const LOOKED_AT = 10_000;

interface WebhookRow {
  id: string;
  account_id: string;
  name: string | null;
  url: string;
  failing_since_ms: number | null;
  is_over: boolean;
}

/**
 * Records since when webhooks fail. Disables those that are gone, or have failed for too long and
 * not only now and then; they hold waiting deliveries. Most failed attempts change nothing here:
 * rows are locked only if they must change, in the order of their ids.
 */
export async function noteHealth(tx: Transaction, { failing, gone, recovered, exhausted }: HealthSigns): Promise<void> {
  if (exhausted.length > 0) await addExhaustedNotices(tx, exhausted);
  const hours = tx`coalesce(disable_after_hours, ${LIMITS.defaultDisableAfterHours}::int4)`;
  const over = tx`least(${hours}, coalesce(disable_failures_over_hours, ${LIMITS.defaultDisableFailuresOverHours}::int4))`;
  const isOver = tx`(active and ${hours} > 0 and failing_since <= now() - make_interval(hours => ${hours})
    and (${over} = 0 or ${failuresFrom(tx)} <= now() - make_interval(hours => ${over})))`;
  const rows = await tx<WebhookRow[]>`
    select id, account_id, name, url, (extract(epoch from failing_since) * 1000)::float8 as failing_since_ms,
      coalesce(${isOver}, false) as is_over from webhooks where
      (id = any(${failing}::text[]) and (failing_since is null or ${isOver} or ${isUnnoted(tx)}))
      or (id = any(${gone}::text[]) and active and ${hours} > 0)
      or (id = any(${recovered}::text[]) and failing_since is not null)
    order by id for no key update`;
  const [isRecovered, isGone] = [new Set(recovered), new Set(gone)];
  const [well, begun, goesOn]: [string[], string[], string[]] = [[], [], []];
  for (const row of rows) {
    if (isRecovered.has(row.id)) well.push(row.id);
    else if (isGone.has(row.id)) await disable(tx, row, 'gone');
    else if (row.is_over && !(await hasSucceeded(tx, row))) await disable(tx, row, 'failing');
    else if (row.failing_since_ms !== null && !row.is_over) goesOn.push(row.id);
    else begun.push(row.id);
  }
  // Together: in an outage hundreds of webhooks begin to fail in one batch.
  if (well.length > 0) await tx`update webhooks set failing_since = null where id = any(${well}::text[])`;
  if (begun.length > 0)
    await tx`
      update webhooks set failing_since = now(), failures_from = now(), failed_at = now()
      where id = any(${begun}::text[])`;
  if (goesOn.length > 0)
    await tx`
      update webhooks set failures_from = coalesce(${failuresFrom(tx)}, now()), failed_at = now()
      where id = any(${goesOn}::text[])`;
}

/** Since when failures have followed each other; null: the last one is too long ago. */
const failuresFrom = (tx: Transaction) =>
  tx`case when failed_at > now() - make_interval(hours => ${APART_HOURS}) then failures_from end`;

const isUnnoted = (tx: Transaction) =>
  tx`coalesce(failed_at < now() - make_interval(hours => ${NOTED_EVERY_HOURS}), true)`;

/**
 * The state of a webhook that is known when an attempt begins may be older than its first failure.
 */
async function hasSucceeded(tx: Transaction, { id, failing_since_ms: sinceMs }: WebhookRow): Promise<boolean> {
  const [row] = await tx<{ found: boolean }[]>`
    select exists (
      select from (
        select status from deliveries where webhook_id = ${id} and id >= ${idFloor('delivery', Math.floor(sinceMs ?? 0))}
        order by id desc limit ${LOOKED_AT}
      ) as newest where status = 'delivered'
    ) as found`;
  return row?.found === true;
}

async function disable(tx: Transaction, row: WebhookRow, reason: 'failing' | 'gone'): Promise<void> {
  const { id, account_id: accountId, name, url, failing_since_ms } = row;
  const changed = await tx`
    update webhooks set active = false, disabled_at = now(), disabled_reason = ${reason}, drain_before = null,
      drain_per_second = null, updated_at = now(), revision = revision + 1
    where id = ${id} and active`;
  if (changed.count === 0) return;
  await tx`select pg_notify(${WEBHOOK_CHANGED_CHANNEL}, ${id})`;
  await addNotice(tx, {
    type: 'webhook.disabled',
    accountId,
    about: { webhook_id: id, name, url, reason, failing_since_ms },
  });
}
