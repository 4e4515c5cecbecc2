import { z } from '@hono/zod-openapi';
import { LIMITS } from '@headwater/shared';
import { type Endpoint, itemEndpoint } from '../endpoint.ts';
import { momentParameter } from '../parameters/moment.ts';
import { epochSeconds, epochSecondsField } from '../resources/time.ts';

const DAY_MS = 86_400_000;
const count = (description: string) => z.int().openapi({ description });
const latency = (description: string) => z.number().nullable().openapi({ description });

const webhookStatsSchema = z
  .object({
    since: z.int().openapi({ description: 'Epoch milliseconds; counters begin at a whole step before.' }),
    delivered: count('Deliveries that were accepted.'),
    failed_attempts: count('Attempts that failed.'),
    exhausted: count('Deliveries that failed with no attempt left.'),
    success_share: z.number().nullable().openapi({
      description: 'Of all attempts, the part that was accepted: 0 to 1. Null: none was made.',
    }),
    latency_ms: z
      .object({ p50: latency('Half of the attempts took no longer.'), p95: latency('95 % of them.') })
      .describe('How long attempts took.'),
    status_classes: z
      .object({
        http_2xx: z.int().describe('Attempts that were answered with 200 to 299.'),
        http_3xx: z.int().describe('Attempts that were answered with 300 to 399.'),
        http_4xx: z.int().describe('Attempts that were answered with 400 to 499.'),
        http_5xx: z.int().describe('Attempts that were answered with 500 to 599.'),
        none: count('Without an answer.'),
      })
      .openapi({ description: 'Attempts by the status of the answer.' }),
    sampled_deliveries: count('`latency_ms` and `status_classes` are of the attempts of so many, the newest.'),
    backlog: count(`Deliveries that wait, on hold or for their next attempt: at most ${LIMITS.maxCountedEvents}.`),
    current_rate_per_second: z.number().nullable().openapi({
      description: 'With `adaptive_rate`: attempts that may begin in a second now. Null: it does not adapt.',
    }),
    oldest_due_at: epochSecondsField(
      'Since when the one that is longest due has waited. Null: none is due.',
    ).nullable(),
  })
  .openapi('WebhookStats');

export function webhookStatsEndpoints(): Endpoint[] {
  return [getWebhookStats];
}

const getWebhookStats = itemEndpoint({
  method: 'get',
  path: '/v1/webhooks/{id}/stats',
  isCounted: true,
  name: 'getWebhookStats',
  tag: 'Webhooks',
  summary: 'How a webhook does: success, latency, backlog',
  description: `Counts are those of \`GET /v1/stats\`. Latency and status classes are of the newest ${LIMITS.maxHealthDeliveries} deliveries of events since then.`,
  pathId: 'The id of the webhook (`wh_…`).',
  parameters: z.object({ since: momentParameter('Where the range begins. Default: a day ago.') }),
  schema: webhookStatsSchema,
  handle: async ({ engine, who, id, input }) => {
    const { since = Date.now() - DAY_MS } = input;
    const [{ totals }, health] = await Promise.all([
      engine.stats.series(who, { sinceMs: since }, { kind: 'webhook', id }),
      engine.webhooks.health(who, id, since),
    ]);
    const { delivered, failedAttempts, exhausted } = totals;
    const attempts = delivered + failedAttempts;
    return {
      since,
      delivered,
      failed_attempts: failedAttempts,
      exhausted,
      success_share: attempts === 0 ? null : delivered / attempts,
      latency_ms: health.latencyMs,
      status_classes: health.statusClasses,
      sampled_deliveries: health.deliveries,
      backlog: health.backlog,
      current_rate_per_second: health.currentRatePerSecond ?? null,
      oldest_due_at: health.oldestDueAt === undefined ? null : epochSeconds(health.oldestDueAt),
    };
  },
});
