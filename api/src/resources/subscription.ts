import { z } from '@hono/zod-openapi';
import type { AutoSubscriptionRecord, SubscriptionRecord } from '@headwater/engine';
import { filterSchema } from '../parameters/filter.ts';
import { epochSeconds, secondsField } from './time.ts';

export const subscriptionSchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the subscription.', example: 'sub_1vZ8kQ0aB3xYpL9mWc2T' }),
    emitter_id: z.string().describe('The source or workflow whose events it is about.'),
    listener_id: z.string().describe('The webhook, source or workflow that gets them.'),
    event_name: z.string().openapi({ description: "The channel; '' is the default channel; `order.*` is a pattern." }),
    filter: filterSchema,
    created_at: secondsField('When it was made.'),
  })
  .openapi('Subscription');

export function presentSubscription(subscription: SubscriptionRecord): z.output<typeof subscriptionSchema> {
  return {
    id: subscription.id,
    emitter_id: subscription.emitterId,
    listener_id: subscription.listenerId,
    event_name: subscription.eventName,
    filter: subscription.filter,
    created_at: epochSeconds(subscription.createdAt),
  };
}

export const autoSubscriptionSchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the auto subscription.', example: 'asub_1vZ8kQ0aB3xYpL9mWc2T' }),
    listener_id: z.string().describe('The webhook, source or workflow that gets the events.'),
    event_name: z.string().openapi({ description: "The channel; '' is the default channel; `order.*` is a pattern." }),
    filter: filterSchema,
    created_at: secondsField('When it was made.'),
  })
  .openapi('AutoSubscription');

export function presentAutoSubscription(made: AutoSubscriptionRecord): z.output<typeof autoSubscriptionSchema> {
  return {
    id: made.id,
    listener_id: made.listenerId,
    event_name: made.eventName,
    filter: made.filter,
    created_at: epochSeconds(made.createdAt),
  };
}
