import { autoSubscriptionSchema } from '@headwater/shared/contract';
import { z } from '@hono/zod-openapi';
import { emptyEndpoint, type Endpoint, itemEndpoint, listEndpoint } from '../endpoint.ts';
import { given, pageOf } from '../parameters/given.ts';
import { filterParameter } from '../parameters/filter.ts';
import { clearableParameter, idParameter, pageParameters } from '../parameters/schemas.ts';
import { mapPage } from '../resources/page.ts';
import { presentAutoSubscription } from '../resources/subscription.ts';

const tag = 'Subscriptions';
const path = '/v1/auto_subscriptions';

const parameters = z.object({
  listener_id: idParameter('What listens: a webhook (`wh_…`), a source (`dc_…`) or a workflow (`p_…`).'),
  event_name: clearableParameter('maxChannelChars').openapi({
    description: 'The channel. Absent or empty: the default channel. `*` stands for any characters.',
  }),
});

const created = parameters.extend({ filter: filterParameter });

function toKey(input: z.output<typeof parameters>) {
  return given({ listenerId: input.listener_id, eventName: input.event_name });
}

export function autoSubscriptionEndpoints(): Endpoint[] {
  return [
    itemEndpoint({
      method: 'post',
      path,
      name: 'createAutoSubscription',
      tag,
      summary: 'Subscribe a listener to every source and workflow that is made from now on',
      description:
        'Each new source or workflow gets a subscription of its own, a source before its first hook runs. The same listener and channel again answer the same auto subscription; it then has the filter that was given, if one was.',
      parameters: created,
      schema: autoSubscriptionSchema,
      handle: async ({ engine, who, input }) =>
        presentAutoSubscription(
          await engine.autoSubscriptions.create(who, { ...toKey(input), ...given({ filter: input.filter }) }),
        ),
    }),
    listEndpoint({
      method: 'get',
      path,
      name: 'listAutoSubscriptions',
      tag,
      summary: 'The auto subscriptions of the account, newest first',
      description: 'Each makes a subscription to every source or workflow that is made from then on.',
      parameters: z.object(pageParameters),
      schema: autoSubscriptionSchema,
      handle: async ({ engine, who, input }) =>
        mapPage(await engine.autoSubscriptions.list(who, pageOf(input)), presentAutoSubscription),
    }),
    emptyEndpoint({
      method: 'delete',
      path,
      name: 'deleteAutoSubscription',
      tag,
      summary: 'End an auto subscription',
      description: 'Takes the same parameters that made it. Subscriptions that it has made stay.',
      parameters,
      status: 204,
      handle: async ({ engine, who, input }) => engine.autoSubscriptions.delete(who, toKey(input)),
    }),
  ];
}
