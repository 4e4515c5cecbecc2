import type { SubscriptionRecord } from '@headwater/engine';
import { subscriptionSchema } from '@headwater/shared/contract';
import { z } from '@hono/zod-openapi';
import { emptyEndpoint, type Endpoint, itemEndpoint, listEndpoint, versionedEndpoint } from '../endpoint.ts';
import { requireChannel } from '../key-scope.ts';
import { given, pageOf } from '../parameters/given.ts';
import { filterParameter } from '../parameters/filter.ts';
import { clearableParameter, idParameter, pageParameters } from '../parameters/schemas.ts';
import { presentSubscription } from '../resources/subscription.ts';

const tag = 'Subscriptions';

const parameters = z.object({
  emitter_id: idParameter(
    'What emits: a source (`dc_…`) or a workflow (`p_…`); `dc_*` and `p_*` are every source and every workflow of the account, also those to come.',
  ),
  listener_id: idParameter('What listens: a webhook (`wh_…`), a source (`dc_…`) or a workflow (`p_…`).'),
  event_name: clearableParameter('maxChannelChars').openapi({
    description:
      'The channel. Absent or empty: the default channel. `$errors` and `$logs` are built in; on `$webhooks` the account emits, which is the `emitter_id` then. `*` stands for any characters: `order.*`.',
  }),
});

const emitterNameSchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the source or workflow.', example: 'dc_1vZ8kQ0aB3xYpL9mWc2T' }),
    name: z.string().describe('Its name.'),
  })
  .openapi('EmitterName');

const created = parameters.extend({ filter: filterParameter });

function toKey(input: z.output<typeof parameters>) {
  return given({ emitterId: input.emitter_id, listenerId: input.listener_id, eventName: input.event_name });
}

function tagged({ tag: revision, ...record }: SubscriptionRecord & { tag: string }) {
  return { item: presentSubscription(record), revision };
}

export function subscriptionEndpoints(): Endpoint[] {
  return [
    itemEndpoint({
      method: 'post',
      path: '/v1/subscriptions',
      name: 'createSubscription',
      tag,
      summary: 'Subscribe a webhook, source or workflow to what a source or workflow emits',
      description:
        'A source or workflow that listens is run for each event, with what was emitted as its event, while it is active. It does not hear itself through a pattern. The same emitter, listener and channel again answer the same subscription; it then has the filter that was given, if one was.',
      parameters: created,
      schema: subscriptionSchema,
      handle: async ({ engine, who, input }) => {
        requireChannel(who, input.event_name);
        const subscription = { ...toKey(input), ...given({ filter: input.filter }) };
        return presentSubscription(await engine.subscriptions.create(who, subscription));
      },
    }),
    versionedEndpoint({
      method: 'put',
      path: '/v1/subscriptions/{id}',
      name: 'updateSubscription',
      tag,
      summary: 'Change the filter of a subscription',
      description: 'It holds for events that are stored from then on.',
      pathId: 'The id of the subscription (`sub_…`).',
      parameters: z.object({ filter: filterParameter }),
      schema: subscriptionSchema,
      handle: async ({ engine, who, id, input, condition }) =>
        tagged(await engine.subscriptions.update(who, id, given({ filter: input.filter }), condition)),
    }),
    ...reads(),
    emptyEndpoint({
      method: 'delete',
      path: '/v1/subscriptions',
      name: 'deleteSubscription',
      tag,
      summary: 'End a subscription',
      description: 'Takes the same parameters that made it.',
      parameters,
      status: 204,
      handle: async ({ engine, who, input }) => engine.subscriptions.delete(who, toKey(input)),
    }),
  ];
}

function reads(): Endpoint[] {
  return [
    listEndpoint({
      method: 'get',
      path: '/v1/subscriptions/emitters',
      name: 'listEmitterNames',
      tag,
      summary: 'Names of the sources and workflows that can be subscribed to',
      description: 'Newest first. A key with the scope `webhooks`, such as that of a portal link, reads it as well.',
      parameters: z.object(pageParameters),
      schema: emitterNameSchema,
      handle: async ({ engine, who, input }) => engine.subscriptions.emitters(who, pageOf(input)),
    }),
    // Behind the path that `{id}` would fit as well.
    versionedEndpoint({
      method: 'get',
      path: '/v1/subscriptions/{id}',
      name: 'getSubscription',
      tag,
      summary: 'A subscription',
      description: '`etag` is for `if-match` of a change.',
      pathId: 'The id of the subscription (`sub_…`).',
      parameters: z.object({}),
      schema: subscriptionSchema,
      handle: async ({ engine, who, id }) => tagged(await engine.subscriptions.get(who, id)),
    }),
  ];
}
