import { z } from 'zod';
import { idField, secondsField } from './fields.ts';
import { filterField, type Filtered } from './filter.ts';
import type { RecordOf, Shown } from './record.ts';

const channelField = z
  .string()
  .meta({ description: "The channel; '' is the default channel; `order.*` is a pattern." });

export const subscriptionSchema = z
  .object({
    id: idField('The id of the subscription.', 'sub_1vZ8kQ0aB3xYpL9mWc2T'),
    emitter_id: z.string().describe('The source or workflow whose events it is about.'),
    listener_id: z.string().describe('The webhook, source or workflow that gets them.'),
    event_name: channelField,
    filter: filterField,
    created_at: secondsField('When it was made.'),
  })
  .meta({ id: 'Subscription' });

export type Subscription = Shown<typeof subscriptionSchema>;
export type SubscriptionRecord = Omit<RecordOf<typeof subscriptionSchema>, 'filter'> & Filtered;

/** A subscription that every source gets that is made from now on. */
export const autoSubscriptionSchema = z
  .object({
    id: idField('The id of the auto subscription.', 'asub_1vZ8kQ0aB3xYpL9mWc2T'),
    listener_id: z.string().describe('The webhook, source or workflow that gets the events.'),
    event_name: channelField,
    filter: filterField,
    created_at: secondsField('When it was made.'),
  })
  .meta({ id: 'AutoSubscription' });

export type AutoSubscriptionRecord = Omit<RecordOf<typeof autoSubscriptionSchema>, 'filter'> & Filtered;
