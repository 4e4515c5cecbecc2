import { z } from '@hono/zod-openapi';
import { HeadwaterError, LIMITS } from '@headwater/shared';
import {
  deliverySchema,
  discardSchema,
  retrySchema,
  secretRotationSchema,
  transformPreviewSchema,
  webhookTestSchema,
} from '@headwater/shared/contract';
import { type Endpoint, itemEndpoint } from '../endpoint.ts';
import { hearsEmittedAlone, requireCode } from '../key-scope.ts';
import { filterParameter } from '../parameters/filter.ts';
import { given } from '../parameters/given.ts';
import { codeParameter, idParameter, textParameter } from '../parameters/schemas.ts';
import { secretParameter, signatureParameter } from '../parameters/webhook-request.ts';
import { presentPreviews } from '../resources/transform.ts';
import { epochSeconds } from '../resources/time.ts';
import { presentDelivery, presentWebhookTest } from '../resources/webhook.ts';

const tag = 'Webhooks';
const pathId = 'The id of the webhook (`wh_…`).';

export function webhookActionEndpoints(): Endpoint[] {
  return [retryNow, discard, skip, rotateSecret, testWebhook, previewTransform];
}

const retryNow = itemEndpoint({
  method: 'post',
  path: '/v1/webhooks/{id}/retry',
  name: 'retryDeliveries',
  tag,
  summary: 'Try pending deliveries again now',
  description: `Deliveries that wait for their next attempt, all or those of \`ids\` and of events that match \`filter\`, are due at once; a request goes through ${LIMITS.maxRetriedNow} of them. Their schedule begins anew. An attempt under way is left to end. Answers 409 where the webhook is stopped. What has failed for good is delivered again by \`redeliver\`.`,
  pathId,
  parameters: z.object({
    ids: z
      .array(idParameter('`dlv_…`'))
      .min(1)
      .max(LIMITS.maxPageSize)
      .optional()
      .openapi({ description: 'Only these deliveries. Default: all that wait.' }),
    filter: filterParameter,
    after: textParameter(200).optional().openapi({ description: 'The `end_cursor` of the request before.' }),
  }),
  schema: retrySchema,
  handle: async ({ engine, who, id, input }) => {
    const { ids, filter, after } = input;
    const { count, endCursor } = await engine.webhooks.retryNow(who, id, given({ ids, filter, after }));
    return { count, ...(endCursor === undefined ? {} : { end_cursor: endCursor }) };
  },
});

const discard = itemEndpoint({
  method: 'post',
  path: '/v1/webhooks/{id}/discard',
  name: 'discardDeliveries',
  // There may be very much to cancel.
  takesTurn: false,
  tag,
  summary: 'Give up what waits',
  description:
    'Cancels all deliveries of the webhook that are pending or held, whether or not it is stopped. They stay in lists as `cancelled`, and `redeliver` with `delivery_id` sends one after all. An attempt under way is left to end.',
  pathId,
  parameters: z.object({}),
  schema: discardSchema,
  handle: async ({ engine, who, id }) => ({ count: await engine.webhooks.discard(who, id) }),
});

const skip = itemEndpoint({
  method: 'post',
  path: '/v1/deliveries/{id}/skip',
  name: 'skipDelivery',
  tag,
  summary: 'Give up one delivery',
  description:
    'Cancels a delivery that waits. Of a webhook with `ordering: fifo` the next one of its key is sent. Answers 409 where it is being sent, or has ended.',
  pathId: 'The id of the delivery (`dlv_…`).',
  parameters: z.object({}),
  schema: deliverySchema,
  handle: async ({ engine, who, id }) => presentDelivery(await engine.webhooks.skip(who, id)),
});

const rotateSecret = itemEndpoint({
  method: 'post',
  path: '/v1/webhooks/{id}/rotate_secret',
  name: 'rotateWebhookSecret',
  tag,
  summary: 'Replace the signing secret',
  description:
    'For the overlap `webhook-signature` holds a signature of each secret, so that a receiver can be changed in between. A secret that was replaced before signs no more.',
  pathId,
  parameters: z.object({
    overlap_hours: z
      .int()
      .min(0)
      .max(LIMITS.maxSecretOverlapHours)
      .default(LIMITS.defaultSecretOverlapHours)
      .openapi({ description: 'How long the old secret signs as well. 0: not at all.' }),
    secret: secretParameter,
    signature: signatureParameter('as before'),
  }),
  schema: secretRotationSchema,
  handle: async ({ engine, who, id, input }) => {
    const { overlap_hours: overlapHours, secret, signature } = input;
    const webhook = await engine.webhooks.rotateSecret(who, id, given({ overlapHours, secret, signature }));
    const { previousUntil } = webhook;
    const previous_until = previousUntil === undefined ? null : epochSeconds(previousUntil);
    const shownSecret = webhook.signature === 'v1' ? webhook.secret : null;
    return { id: webhook.id, secret: shownSecret, public_key: webhook.publicKey ?? null, previous_until };
  },
});

const testWebhook = itemEndpoint({
  method: 'post',
  path: '/v1/webhooks/{id}/test',
  name: 'testWebhook',
  // The receiver may take as long as the webhook's timeout.
  takesTurn: false,
  tag,
  summary: 'Send a signed test request',
  description:
    'One request at once, signed and with the headers of the webhook, whether or not it is subscribed or active; answers what came of it. It carries `headwater-test: true`. Nothing is stored or tried again.',
  pathId,
  parameters: z.object({
    event: z.unknown().optional().openapi({ description: 'What is sent. Default: a sample.' }),
    event_id: idParameter('A stored event that is sent instead (`1606511826306-0`).').optional(),
    emitter_id: idParameter('Whose event `event_id` is, where several have one of that id.').optional(),
  }),
  schema: webhookTestSchema,
  handle: async ({ engine, who, id, input }) => {
    const { event, event_id: eventId, emitter_id: emitterId } = input;
    if (event !== undefined && eventId !== undefined) {
      throw new HeadwaterError('INVALID_REQUEST', 'event and event_id contradict each other: give one of them');
    }
    if (emitterId !== undefined && eventId === undefined)
      throw new HeadwaterError('INVALID_REQUEST', 'emitter_id says whose event event_id names: give both');
    return presentWebhookTest(
      await engine.webhooks.test(who, id, given({ event, eventId, emitterId, emittedAlone: hearsEmittedAlone(who) })),
    );
  },
});

const previewTransform = itemEndpoint({
  method: 'post',
  path: '/v1/webhooks/{id}/transform/preview',
  name: 'previewTransform',
  // Code that is given is built first, and each event may take as long as a hook.
  takesTurn: false,
  tag,
  summary: 'Run a transform on past events',
  description:
    'Answers each request as it is before the transform and after it. Nothing is sent or stored. Without `component_id` and `component_code` the transform of the webhook runs.',
  pathId,
  parameters: z
    .object({
      component_id: textParameter('maxNameChars', 1).optional().openapi({
        description: 'A saved component of the type `transform`, by its id or key.',
      }),
      component_code: codeParameter().optional(),
      event_ids: z
        .array(idParameter('An event, as `1606511826306-0` or by its `metadata.emit_id`.'))
        .min(1)
        .max(LIMITS.maxPreviewedEvents)
        .optional()
        .openapi({ description: 'Past events of the account.' }),
      last: z
        .int()
        .min(1)
        .max(LIMITS.maxPreviewedEvents)
        .optional()
        .openapi({ description: 'So many of the newest events that were delivered to the webhook. Default: 3.' }),
      event: z.unknown().optional().openapi({ description: 'The data of an event that is made up.' }),
    })
    .superRefine((input, context) => {
      const events = (['event_ids', 'last', 'event'] as const).filter((name) => input[name] !== undefined);
      if (events.length > 1)
        context.addIssue({ code: 'custom', path: [events[1] ?? ''], message: `does not go with ${events[0]}` });
      if (input.component_id !== undefined && input.component_code !== undefined)
        context.addIssue({ code: 'custom', path: ['component_code'], message: 'does not go with component_id' });
    }),
  schema: transformPreviewSchema,
  handle: async ({ engine, who, id, input }) => {
    const { component_id: componentId, component_code: componentCode, event_ids: eventIds, last, event } = input;
    if (componentId !== undefined || componentCode !== undefined) requireCode(who);
    const emittedAlone = hearsEmittedAlone(who);
    const request = given({ componentId, componentCode, eventIds, last, event, emittedAlone });
    return presentPreviews(await engine.webhooks.previewTransform(who, id, request));
  },
});
