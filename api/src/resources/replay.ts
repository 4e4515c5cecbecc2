import { z } from '@hono/zod-openapi';
import { REPLAY_STATUSES, type ReplayRecord } from '@headwater/engine';
import { filterField } from '@headwater/shared/contract';

const moment = (description: string) => z.int().openapi({ description: `${description} Epoch milliseconds.` });

export const replaySchema = z
  .object({
    id: z.string().nullable().openapi({ example: 'rpl_1vZ8kQ0aB3xYpL9mWc2T', description: 'Null for a dry run.' }),
    status: z.enum(REPLAY_STATUSES).openapi({
      description: '`failed`: the listener was deleted meanwhile. `cancelled`: what was sent until then stays.',
    }),
    error: z.string().nullable().describe('Why it failed. Null: it has not.'),
    emitter_id: z.string().describe('The source or workflow whose events are replayed.'),
    listener_id: z.string().describe('The webhook, source or workflow that gets them.'),
    event_name: z.string().nullable().openapi({ description: 'Null: all channels but the built-in ones.' }),
    filter: filterField,
    since: moment('Events that were stored at this time or later.').nullable(),
    until: moment('Events that were stored before this time.'),
    ids: z.array(z.string()).nullable().describe('The ids of the chosen events. Null: it goes by time.'),
    rate_per_second: z.int().nullable().describe('How many a second. Null: as fast as it goes.'),
    count: z.int().openapi({ description: 'Events that match, counted when the replay was made.' }),
    count_is_complete: z.boolean().openapi({ description: 'False: there were more events than are looked through.' }),
    delivered_before: z
      .int()
      .openapi({ description: 'Of the count: the listener got them before, as far as is known.' }),
    sent: z.int().openapi({ description: 'Deliveries, runs or executions that it has made.' }),
    warning: z.string().nullable().openapi({ description: 'What to know before it is made in earnest.' }),
    created_at: moment('When it was made.'),
    ended_at: moment('When it ended.').nullable(),
  })
  .openapi('Replay');

export function presentReplay(replay: ReplayRecord): z.output<typeof replaySchema> {
  return {
    id: replay.id ?? null,
    status: replay.status,
    error: replay.error ?? null,
    emitter_id: replay.emitterId,
    listener_id: replay.listenerId,
    event_name: replay.eventName ?? null,
    filter: replay.filter,
    since: replay.since?.getTime() ?? null,
    until: replay.until.getTime(),
    ids: replay.ids ?? null,
    rate_per_second: replay.ratePerSecond ?? null,
    count: replay.count,
    count_is_complete: replay.isCountComplete,
    delivered_before: replay.deliveredBefore,
    sent: replay.sent,
    warning: warningOf(replay),
    created_at: replay.createdAt.getTime(),
    ended_at: replay.endedAt?.getTime() ?? null,
  };
}

function warningOf({ deliveredBefore: count, listenerId }: ReplayRecord): string | null {
  if (count === 0) return null;
  return `${listenerId} got ${count} of these events before and gets ${count === 1 ? 'it' : 'them'} again`;
}
