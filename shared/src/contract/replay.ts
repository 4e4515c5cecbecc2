import { z } from 'zod';
import { filterField } from './filter.ts';
import type { Shown } from './record.ts';

const moment = (description: string) => z.int().meta({ description: `${description} Epoch milliseconds.` });

export const replaySchema = z
  .object({
    id: z.string().nullable().meta({ example: 'rpl_1vZ8kQ0aB3xYpL9mWc2T', description: 'Null for a dry run.' }),
    status: z.enum(['dry_run', 'running', 'done', 'cancelled', 'failed']).meta({
      description: '`failed`: the listener was deleted meanwhile. `cancelled`: what was sent until then stays.',
    }),
    error: z.string().nullable().describe('Why it failed. Null: it has not.'),
    emitter_id: z.string().describe('The source or workflow whose events are replayed.'),
    listener_id: z.string().describe('The webhook, source or workflow that gets them.'),
    event_name: z.string().nullable().meta({ description: 'Null: all channels but the built-in ones.' }),
    filter: filterField,
    since: moment('Events that were stored at this time or later.').nullable(),
    until: moment('Events that were stored before this time.'),
    ids: z.array(z.string()).nullable().describe('The ids of the chosen events. Null: it goes by time.'),
    rate_per_second: z.int().nullable().describe('How many a second. Null: as fast as it goes.'),
    count: z.int().meta({ description: 'Events that match, counted when the replay was made.' }),
    count_is_complete: z.boolean().meta({ description: 'False: there were more events than are looked through.' }),
    delivered_before: z.int().meta({ description: 'Of the count: the listener got them before, as far as is known.' }),
    sent: z.int().meta({ description: 'Deliveries, runs or executions that it has made.' }),
    warning: z.string().nullable().meta({ description: 'What to know before it is made in earnest.' }),
    created_at: moment('When it was made.'),
    ended_at: moment('When it ended.').nullable(),
  })
  .meta({ id: 'Replay' });

export type Replay = Shown<typeof replaySchema>;
