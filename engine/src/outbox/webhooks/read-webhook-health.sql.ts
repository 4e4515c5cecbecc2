import { idFloor, LIMITS } from '@headwater/shared';
import type { WebhookHealth } from '../../contract/index.ts';
import type { Sql } from '../../db/index.ts';
import { inIndexOrder } from '../../events/index.ts';

interface HealthRow {
  deliveries: number;
  attempts: number;
  latency: (number | null)[] | null;
  http_2xx: number;
  http_3xx: number;
  http_4xx: number;
  http_5xx: number;
  none: number;
  backlog: number;
  oldest_due_ms: number | null;
}

/**
 * Looks at the newest LIMITS.maxHealthDeliveries deliveries of the webhook, and counts what waits
 * up to LIMITS.maxCountedEvents, however many there are.
 */
export async function readWebhookHealth(
  sql: Sql,
  { accountId, webhookId, sinceMs }: { accountId: string; webhookId: string; sinceMs: number },
): Promise<WebhookHealth> {
  const [row] = await inIndexOrder(
    sql,
    (tx) => tx<HealthRow[]>`
      with newest as (
        select attempts from deliveries
        where webhook_id = ${webhookId} and account_id = ${accountId} and id >= ${idFloor('delivery', sinceMs)}
        order by id desc limit ${LIMITS.maxHealthDeliveries}
      ), made as (
        select (a ->> 'duration_ms')::float8 as ms, coalesce((a ->> 'status_code')::int4, 0) / 100 as class
        from newest cross join lateral jsonb_array_elements(attempts) as a
        -- A note of why it was cancelled is no attempt, and nothing was sent of one that was dropped.
        where a ?| array['trigger', 'status_code'] and not a ? 'dropped'
      ), waiting as (
        select next_attempt_at from deliveries
        where status = 'pending' and leased_by is null and webhook_id = ${webhookId} and account_id = ${accountId}
        order by leased_by, webhook_id, next_attempt_at limit ${LIMITS.maxCountedEvents}
      )
      select (select count(*)::int4 from newest) as deliveries, count(*)::int4 as attempts,
        percentile_cont(array[0.5, 0.95]) within group (order by ms) as latency,
        count(*) filter (where class = 2)::int4 as http_2xx, count(*) filter (where class = 3)::int4 as http_3xx,
        count(*) filter (where class = 4)::int4 as http_4xx, count(*) filter (where class > 4)::int4 as http_5xx,
        count(*) filter (where class < 2)::int4 as none,
        (select count(*)::int4 from waiting) as backlog,
        (select (extract(epoch from min(next_attempt_at)) * 1000)::float8 from waiting where next_attempt_at <= now())
          as oldest_due_ms
      from made`,
  );
  const [p50 = null, p95 = null] = row?.latency ?? [];
  return {
    deliveries: row?.deliveries ?? 0,
    attempts: row?.attempts ?? 0,
    latencyMs: { p50, p95 },
    statusClasses: {
      http_2xx: row?.http_2xx ?? 0,
      http_3xx: row?.http_3xx ?? 0,
      http_4xx: row?.http_4xx ?? 0,
      http_5xx: row?.http_5xx ?? 0,
      none: row?.none ?? 0,
    },
    backlog: row?.backlog ?? 0,
    ...(row === undefined || row.oldest_due_ms === null ? {} : { oldestDueAt: new Date(row.oldest_due_ms) }),
  };
}
