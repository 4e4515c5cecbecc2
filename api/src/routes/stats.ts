import { z } from '@hono/zod-openapi';
import type { StatRange } from '@headwater/engine';
import { HeadwaterError, LIMITS } from '@headwater/shared';
import {
  accountStatsSchema,
  nodeSchema,
  statSeriesSchema,
  subjectStatsSchema,
  waitingStatsSchema,
} from '@headwater/shared/contract';
import { adminEndpoint, adminListEndpoint, type Endpoint, itemEndpoint } from '../endpoint.ts';
import { given, pageOf } from '../parameters/given.ts';
import { momentParameter } from '../parameters/moment.ts';
import { countParameter, idParameter, shortListParameters } from '../parameters/schemas.ts';
import { pageWithin } from '../resources/page.ts';
import {
  presentAccountStats,
  presentNode,
  presentSeries,
  presentSubjects,
  presentWaiting,
} from '../resources/stats.ts';

const tag = 'Stats';

const rangeParameters = {
  since: momentParameter('Where the range begins. Default: an hour before `until`.'),
  until: momentParameter('Where the range ends. Default: now.'),
  step: z
    .int()
    .optional()
    .openapi({
      description: `Seconds of a bucket: whole minutes that divide a day, such as 60, 300, 3600 or 86400. Buckets begin at multiples of it, in UTC. Default: what shows the range well. Counters by minute are kept for ${LIMITS.minuteStatsKeptMs / 3_600_000} hours, those by hour as long as events are.`,
      example: 300,
    }),
};

const limitParameter = countParameter('maxPageSize')
  .default(LIMITS.defaultPageSize)
  .openapi({ description: 'How many at most.' });

const SECONDS_AFTER =
  'Nodes add what they have counted every 5 seconds. They are statistics: a node that is killed loses what it had not added yet.';

export function statEndpoints(): Endpoint[] {
  return [getStats, getWaiting, listOf('emitters'), listOf('webhooks'), getAccountStats, listNodes];
}

const getStats = itemEndpoint({
  method: 'get',
  path: '/v1/stats',
  isCounted: true,
  name: 'getStats',
  tag,
  summary: 'What was received, run, emitted and delivered, by time',
  description: `Of the account, or of one source, workflow or webhook. At most ${LIMITS.maxStatBuckets} buckets. ${SECONDS_AFTER}`,
  parameters: z.object({
    ...rangeParameters,
    emitter_id: idParameter('Only this source (`dc_…`) or workflow (`p_…`).').optional(),
    webhook_id: idParameter('Only this webhook (`wh_…`).').optional(),
  }),
  schema: statSeriesSchema,
  handle: async ({ engine, who, input }) => {
    const { emitter_id: emitterId, webhook_id: webhookId } = input;
    return presentSeries(await engine.stats.series(who, rangeOf(input), subjectOf(emitterId, webhookId)));
  },
});

const getWaiting = itemEndpoint({
  method: 'get',
  path: '/v1/stats/waiting',
  isCounted: true,
  name: 'getWaitingStats',
  tag,
  summary: 'The oldest run and the oldest due delivery that no node has begun',
  description: 'Sources, workflows and webhooks that are stopped are left out: what waits there waits for them.',
  parameters: z.object({}),
  schema: waitingStatsSchema,
  handle: async ({ engine, who }) => presentWaiting(await engine.stats.waiting(who)),
});

function listOf(path: 'emitters' | 'webhooks'): Endpoint {
  const kind = path === 'webhooks' ? 'webhook' : 'emitter';
  const what = path === 'webhooks' ? 'webhooks' : 'sources and workflows';
  return itemEndpoint({
    method: 'get',
    path: `/v1/stats/${path}`,
    isCounted: true,
    name: path === 'webhooks' ? 'listWebhookStats' : 'listEmitterStats',
    tag,
    summary: `The ${what} that did something in a range: most failures first`,
    description: `After those with failures the most active ones. ${SECONDS_AFTER}`,
    parameters: z.object({
      ...rangeParameters,
      limit: limitParameter,
    }),
    schema: subjectStatsSchema,
    handle: async ({ engine, who, input }) =>
      presentSubjects(await engine.stats.subjects(who, rangeOf(input), { kind, limit: input.limit })),
  });
}

const getAccountStats = adminEndpoint({
  method: 'get',
  path: '/v1/stats/accounts',
  isCounted: true,
  name: 'listAccountStats',
  tag,
  summary: 'What each account did in a range, the most active first',
  description: `Takes the key of the operator (\`HEADWATER_ADMIN_KEY\`), no other. Accounts that did nothing are left out. ${SECONDS_AFTER}`,
  parameters: z.object({ ...rangeParameters, limit: limitParameter }),
  schema: accountStatsSchema,
  handle: async ({ engine, input }) => presentAccountStats(await engine.operator.accounts(rangeOf(input), input.limit)),
});

const listNodes = adminListEndpoint({
  method: 'get',
  path: '/v1/nodes',
  name: 'listNodes',
  tag: 'Nodes',
  summary: 'The nodes of this instance, the oldest first',
  description: 'Takes the key of the operator (`HEADWATER_ADMIN_KEY`), no other.',
  parameters: z.object(shortListParameters),
  schema: nodeSchema,
  handle: async ({ engine, input }) =>
    pageWithin((await engine.operator.nodes()).map(presentNode), ({ id }) => id, pageOf(input)),
});

function subjectOf(emitterId: string | undefined, webhookId: string | undefined) {
  if (emitterId !== undefined && webhookId !== undefined) {
    const message = 'must not be given with emitter_id: counters are of one of them';
    throw new HeadwaterError('INVALID_REQUEST', `webhook_id ${message}`, { fields: [{ path: 'webhook_id', message }] });
  }
  if (emitterId !== undefined) return { kind: 'emitter' as const, id: emitterId };
  return webhookId === undefined ? undefined : { kind: 'webhook' as const, id: webhookId };
}

function rangeOf(input: Partial<Record<'since' | 'until' | 'step', number | undefined>>): StatRange {
  return given({ sinceMs: input.since, untilMs: input.until, stepSeconds: input.step });
}
