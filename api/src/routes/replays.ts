import { z } from '@hono/zod-openapi';
import { LIMITS } from '@headwater/shared';
import { replaySchema } from '@headwater/shared/contract';
import { type Endpoint, itemEndpoint, listEndpoint } from '../endpoint.ts';
import { requireChannel } from '../key-scope.ts';
import { filterParameter } from '../parameters/filter.ts';
import { given, pageOf } from '../parameters/given.ts';
import { timeParameter } from '../parameters/moment.ts';
import { idParameter, pageParameters, textParameter } from '../parameters/schemas.ts';
import { mapPage } from '../resources/page.ts';
import { presentReplay } from '../resources/replay.ts';

const tag = 'Replays';
const pathId = 'The id of the replay (`rpl_…`).';

export function replayEndpoints(): Endpoint[] {
  return [create, list, get, cancel];
}

const create = itemEndpoint({
  method: 'post',
  path: '/v1/replays',
  name: 'createReplay',
  tag,
  summary: 'Send past events to a webhook, workflow or source',
  description: `Events are counted first; then a job sends them, the oldest first, and outlives crashes: none is sent twice by one replay, none is left out. The listener need not be subscribed. Deliveries have the \`webhook-id\` that the event always has, and the header \`headwater-replay-id\`. At most ${LIMITS.maxRunningReplays} replays of an account go on at once.`,
  example: {
    emitter_id: 'dc_1vZ8kQ0aB3xYpL9mWc2T',
    listener_id: 'wh_1vZ8kQ0aB3xYpL9mWc2T',
    since: '2026-11-20T14:00Z',
  },
  parameters: z.object({
    emitter_id: idParameter('Whose events: a source (`dc_…`) or a workflow (`p_…`).'),
    listener_id: idParameter('Who gets them: a webhook (`wh_…`), a source (`dc_…`) or a workflow (`p_…`).'),
    since: timeParameter('Only events that were stored at this time or later.'),
    until: timeParameter('Only events that were stored before this time. Default: now.'),
    event_name: textParameter('maxChannelChars').optional().openapi({
      description:
        "A channel, '' being the default one; `*` stands for any characters. Default: all but the built-in ones.",
    }),
    filter: filterParameter,
    ids: z
      .array(idParameter('`1606511826306-0`'))
      .min(1)
      .max(LIMITS.maxReplayIds)
      .optional()
      .openapi({ description: 'Only these events.' }),
    dry_run: z.boolean().optional().openapi({ description: 'Only count.' }),
    rate_per_second: z.int().min(1).max(LIMITS.maxReplayRatePerSecond).optional().openapi({
      description: 'At most so many events a second. Default: as fast as the listener takes them.',
    }),
  }),
  schema: replaySchema,
  handle: async ({ engine, who, input }) => {
    requireChannel(who, input.event_name);
    const replay = {
      emitterId: input.emitter_id,
      listenerId: input.listener_id,
      ...given({
        since: input.since,
        until: input.until,
        eventName: input.event_name,
        filter: input.filter,
        ids: input.ids,
        dryRun: input.dry_run,
        ratePerSecond: input.rate_per_second,
      }),
    };
    return presentReplay(await engine.replays.create(who, replay));
  },
});

const list = listEndpoint({
  method: 'get',
  path: '/v1/replays',
  name: 'listReplays',
  tag,
  summary: 'The replays of the account, newest first',
  description: `Of those that have ended, the newest ${LIMITS.maxKeptReplays} are kept.`,
  parameters: z.object(pageParameters),
  schema: replaySchema,
  handle: async ({ engine, who, input }) => mapPage(await engine.replays.list(who, pageOf(input)), presentReplay),
});

const get = itemEndpoint({
  method: 'get',
  path: '/v1/replays/{id}',
  name: 'getReplay',
  tag,
  summary: 'A replay and how far it is',
  description: 'It goes on by itself. `DELETE` of it ends it; what was sent stays sent.',
  pathId,
  parameters: z.object({}),
  schema: replaySchema,
  handle: async ({ engine, who, id }) => presentReplay(await engine.replays.get(who, id)),
});

const cancel = itemEndpoint({
  method: 'delete',
  path: '/v1/replays/{id}',
  name: 'cancelReplay',
  tag,
  summary: 'Cancel a replay',
  description: 'What it has sent stays. Answers 409 where it has ended.',
  pathId,
  parameters: z.object({}),
  schema: replaySchema,
  handle: async ({ engine, who, id }) => presentReplay(await engine.replays.cancel(who, id)),
});
