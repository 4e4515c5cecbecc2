import { z } from '@hono/zod-openapi';
import { LIMITS } from '@headwater/shared';
import { emptyEndpoint, type Endpoint, itemEndpoint, listEndpoint } from '../endpoint.ts';
import { given, pageOf } from '../parameters/given.ts';
import { clearableParameter, httpUrlParameter, idParameter, pageParameters } from '../parameters/schemas.ts';
import { mapPage } from '../resources/page.ts';
import {
  deliverySchema,
  presentDelivery,
  presentWebhook,
  redeliverySchema,
  webhookSchema,
} from '../resources/webhook.ts';

const tag = 'Webhooks';
const pathId = 'The id of the webhook (`wh_…`).';

const urlParameter = httpUrlParameter().openapi({ description: 'Where events are sent. Any port and path.' });

const detailParameters = {
  name: clearableParameter('maxNameChars').openapi({ description: 'For your own reference.' }),
  description: clearableParameter('maxDescriptionChars'),
  format: z
    .enum(['raw', 'envelope'])
    .optional()
    .openapi({ description: '`raw` (default): the emitted event; `envelope`: `{ type, timestamp, data }` around it.' }),
};

export function webhookEndpoints(): Endpoint[] {
  return [createWebhook, getWebhook, updateWebhook, deleteWebhook, listDeliveries, redeliver];
}

const createWebhook = itemEndpoint({
  method: 'post',
  path: '/v1/webhooks',
  name: 'createWebhook',
  tag,
  summary: 'Make a webhook',
  parameters: z.object({ url: urlParameter, ...detailParameters }),
  schema: webhookSchema,
  handle: async ({ engine, who, input }) => {
    const { url, name, description, format } = input;
    return presentWebhook(await engine.webhooks.create(who, given({ url, name, description, format })));
  },
});

const getWebhook = itemEndpoint({
  method: 'get',
  path: '/v1/webhooks/{id}',
  name: 'getWebhook',
  tag,
  summary: 'A webhook, with its secret',
  pathId,
  parameters: z.object({}),
  schema: webhookSchema,
  handle: async ({ engine, who, id }) => presentWebhook(await engine.webhooks.get(who, id)),
});

const updateWebhook = itemEndpoint({
  method: 'put',
  path: '/v1/webhooks/{id}',
  name: 'updateWebhook',
  // Stopped, it may have very much to cancel.
  takesTurn: ({ active }) => active !== false,
  tag,
  summary: 'Change a webhook, or stop and start it',
  description: 'What is not given stays as it is.',
  pathId,
  parameters: z.object({
    url: urlParameter.optional(),
    ...detailParameters,
    active: z.boolean().optional().openapi({ description: 'false: nothing is delivered.' }),
  }),
  schema: webhookSchema,
  handle: async ({ engine, who, id, input }) => {
    const { url, name, description, format, active } = input;
    return presentWebhook(await engine.webhooks.update(who, id, given({ url, name, description, format, active })));
  },
});

const deleteWebhook = emptyEndpoint({
  method: 'delete',
  path: '/v1/webhooks/{id}',
  name: 'deleteWebhook',
  takesTurn: false,
  tag,
  summary: 'Delete a webhook and its subscriptions',
  pathId,
  parameters: z.object({}),
  status: 204,
  handle: async ({ engine, who, id }) => engine.webhooks.delete(who, id),
});

const listDeliveries = listEndpoint({
  method: 'get',
  path: '/v1/webhooks/{id}/deliveries',
  name: 'listDeliveries',
  tag,
  summary: 'Deliveries of a webhook with their attempts, newest first',
  description: `\`total_count\` is at most ${LIMITS.maxCountedEvents}.`,
  pathId,
  parameters: z.object(pageParameters),
  schema: deliverySchema,
  handle: async ({ engine, who, id, input }) =>
    mapPage(await engine.webhooks.deliveries(who, id, pageOf(input)), presentDelivery),
});

const redeliver = itemEndpoint({
  method: 'post',
  path: '/v1/webhooks/{id}/redeliver',
  name: 'redeliver',
  tag,
  summary: 'Deliver again what has failed',
  description: `All deliveries that have failed, the oldest ${LIMITS.maxRedeliveries} at a time, or with \`delivery_id\` one that has ended in whatever way. \`webhook-id\` stays the same, so that a receiver can tell what it has seen; the schedule of retries begins anew. Answers 409 where the webhook is stopped.`,
  pathId,
  parameters: z.object({ delivery_id: idParameter('Only this one (`dlv_…`).').optional() }),
  schema: redeliverySchema,
  handle: async ({ engine, who, id, input }) => ({
    count: await engine.webhooks.redeliver(who, id, input.delivery_id),
  }),
});
