import { z } from '@hono/zod-openapi';
import { ENDED_STATUSES } from '@headwater/engine';
import { LIMITS, WEBHOOK_FORMATS } from '@headwater/shared';
import {
  DELIVERY_ERROR_CLASSES,
  DELIVERY_STATUSES,
  deliverySchema,
  FORMATS,
  redeliverySchema,
  webhookSchema,
  wholeAttemptSchema,
} from '@headwater/shared/contract';
import { emptyEndpoint, type Endpoint, itemEndpoint, listEndpoint, versionedEndpoint } from '../endpoint.ts';
import { mayReadSecrets, requireCode } from '../key-scope.ts';
import { choicesParameter } from '../parameters/choices.ts';
import { filterParameter } from '../parameters/filter.ts';
import { given, pageOf } from '../parameters/given.ts';
import { timeParameter } from '../parameters/moment.ts';
import {
  clearableParameter,
  httpUrlParameter,
  idParameter,
  pageParameters,
  textParameter,
} from '../parameters/schemas.ts';
import {
  secretParameter,
  signatureParameter,
  transformParameters,
  webhookPaceParameters,
  webhookRequestOf,
  webhookRequestParameters,
} from '../parameters/webhook-request.ts';
import { presentWholeAttempt } from '../resources/delivery-attempt.ts';
import { mapPage, versioned } from '../resources/page.ts';
import { presentDelivery, presentWebhook, presentWithoutSecrets } from '../resources/webhook.ts';
import { webhookStatsEndpoints } from './webhook-stats.ts';
import { webhookActionEndpoints } from './webhook-actions.ts';

const tag = 'Webhooks';
const pathId = 'The id of the webhook (`wh_…`).';
const EMIT_ID = /^\w{1,64}-\d{1,15}-\d{1,9}$/;

const urlParameter = httpUrlParameter().openapi({ description: 'Where events are sent. Any port and path.' });

const detailParameters = {
  ...webhookRequestParameters,
  ...webhookPaceParameters,
  ...transformParameters,
  name: clearableParameter('maxNameChars').openapi({ description: 'For your own reference.' }),
  description: clearableParameter('maxDescriptionChars').describe('What it is for.'),
  format: z
    .enum(WEBHOOK_FORMATS)
    .optional()
    .openapi({ description: `${FORMATS} Default: \`raw\`.` }),
};

const failureParameters = {
  since: timeParameter('Only those of events that were emitted at this time or later.'),
  until: timeParameter('Only those of events that were emitted before this time.'),
  error_class: choicesParameter(
    DELIVERY_ERROR_CLASSES,
    'Only those whose last attempt failed like this, where that is known.',
  ),
};

const deliveryParameters = {
  ...failureParameters,
  status: choicesParameter(DELIVERY_STATUSES, 'Only those of this status.'),
  emit_id: textParameter('maxIdChars')
    .regex(EMIT_ID, 'must be an emit_id such as dc_1vZ8kQ0aB3xYpL9mWc2T-1763640000123-0')
    .optional()
    .openapi({ description: 'Only those of this event, by its `metadata.emit_id`.' }),
  text: textParameter('maxSearchChars').optional().openapi({
    description:
      'Only those with this text in the error, the answer, its headers or the address of an attempt, in whatever case, or with this id.',
  }),
};

const failuresOf = ({ since, until, error_class: errorClasses }: z.output<z.ZodObject<typeof failureParameters>>) =>
  given({ since, until, errorClasses });

function deliveriesOf(input: z.output<z.ZodObject<typeof deliveryParameters>>) {
  return {
    ...failuresOf(input),
    ...given({ statuses: input.status, emitId: input.emit_id, text: input.text || undefined }),
  };
}

const ABOUT_LIST = `\`total_count\` is at most ${LIMITS.maxCountedEvents}. With a filter a page looks through ${LIMITS.maxScannedDeliveries} deliveries: it may have fewer than were asked for, or none, while \`end_cursor\` leads on. \`page_info.scanned_until\` then says how far back it has looked, in epoch milliseconds, and \`total_count\` is of the newest ones.`;

export function webhookEndpoints(): Endpoint[] {
  return [
    createWebhook,
    getWebhook,
    updateWebhook,
    deleteWebhook,
    listDeliveries,
    listAllDeliveries,
    getDelivery,
    getAttempt,
    redeliver,
    ...webhookActionEndpoints(),
    ...webhookStatsEndpoints(),
  ];
}

const createWebhook = itemEndpoint({
  method: 'post',
  path: '/v1/webhooks',
  name: 'createWebhook',
  tag,
  summary: 'Make a webhook',
  description:
    'It gets no events before something is subscribed: `POST /v1/subscriptions`. The answer has the secret that signs its requests.',
  parameters: z.object({
    url: urlParameter,
    ...detailParameters,
    secret: secretParameter,
    signature: signatureParameter('`v1`'),
  }),
  schema: webhookSchema,
  handle: async ({ engine, who, input }) => {
    const { url, name, description, format, secret, signature } = input;
    if (input.transform_id !== undefined) requireCode(who);
    const request = webhookRequestOf(input);
    return presentWebhook(
      await engine.webhooks.create(who, given({ url, name, description, format, secret, signature, ...request })),
    );
  },
});

const getWebhook = versionedEndpoint({
  method: 'get',
  path: '/v1/webhooks/{id}',
  name: 'getWebhook',
  tag,
  summary: 'A webhook, with its secret',
  description:
    'With the secret, own headers and certificates, which lists leave out. `etag` is for `if-match` of a change.',
  pathId,
  parameters: z.object({}),
  schema: webhookSchema,
  handle: async ({ engine, who, id }) =>
    versioned(await engine.webhooks.get(who, id), mayReadSecrets(who) ? presentWebhook : presentWithoutSecrets),
});

const updateWebhook = versionedEndpoint({
  method: 'put',
  path: '/v1/webhooks/{id}',
  name: 'updateWebhook',
  tag,
  // Started, it may have very much to put in order.
  takesTurn: ({ active }) => active !== true,
  summary: 'Change a webhook, or stop and start it',
  description:
    'What is not given stays as it is. A webhook that is stopped holds: what is pending waits, and new events are stored as held deliveries, up to `maxPausedDeliveries` of the account. Started, it drains them, the oldest first; new events are sent at once. `discard` gives them up.',
  pathId,
  example: { description: 'Orders of the shop', active: true, drain_per_second: 20 },
  parameters: z.object({
    url: urlParameter.optional(),
    ...detailParameters,
    active: z.boolean().optional().openapi({ description: 'false: deliveries are held; true: they drain.' }),
    drain_per_second: z
      .int()
      .nullable()
      .optional()
      .openapi({
        description: `With \`active: true\`: how much of what it held is sent a second, 1 to ${LIMITS.maxDrainPerSecond}. Null: as fast as it goes.`,
        example: 20,
      }),
  }),
  schema: webhookSchema,
  handle: async ({ engine, who, id, input, expected }) => {
    const { url, name, description, format, active, drain_per_second: drainPerSecond } = input;
    if (input.transform_id !== undefined) requireCode(who);
    const change = given({ url, name, description, format, active, drainPerSecond, ...webhookRequestOf(input) });
    return versioned(await engine.webhooks.update(who, id, change, expected), presentWebhook);
  },
});

const deleteWebhook = emptyEndpoint({
  method: 'delete',
  path: '/v1/webhooks/{id}',
  name: 'deleteWebhook',
  takesTurn: false,
  tag,
  summary: 'Delete a webhook and its subscriptions',
  description: 'What waits for it is given up, and its deliveries are not shown any more.',
  isVersioned: true,
  pathId,
  parameters: z.object({}),
  status: 204,
  handle: async ({ engine, who, id, expected }) => engine.webhooks.delete(who, id, expected),
});

const listDeliveries = listEndpoint({
  method: 'get',
  path: '/v1/webhooks/{id}/deliveries',
  name: 'listDeliveries',
  tag,
  summary: 'Deliveries of a webhook with their attempts, newest first',
  description: ABOUT_LIST,
  pathId,
  parameters: z.object({ ...pageParameters, ...deliveryParameters }),
  schema: deliverySchema,
  handle: async ({ engine, who, id, input }) =>
    mapPage(await engine.webhooks.deliveries(who, id, pageOf(input), deliveriesOf(input)), presentDelivery),
});

const listAllDeliveries = listEndpoint({
  method: 'get',
  path: '/v1/deliveries',
  name: 'listAllDeliveries',
  tag,
  summary: 'Deliveries of all webhooks with their attempts, newest first',
  description: `Of the webhooks that there are now. ${ABOUT_LIST}`,
  parameters: z.object({
    ...pageParameters,
    ...deliveryParameters,
    webhook_id: idParameter('Only those of this webhook (`wh_…`).').optional(),
  }),
  schema: deliverySchema,
  handle: async ({ engine, who, input }) =>
    mapPage(
      await engine.webhooks.deliveries(who, input.webhook_id, pageOf(input), deliveriesOf(input)),
      presentDelivery,
    ),
});

const getDelivery = itemEndpoint({
  method: 'get',
  path: '/v1/deliveries/{id}',
  name: 'getDelivery',
  tag,
  summary: 'A delivery with its attempts',
  description: 'Answers 404 where its webhook was deleted.',
  pathId: 'The id of the delivery (`dlv_…`).',
  parameters: z.object({}),
  schema: deliverySchema,
  handle: async ({ engine, who, id }) => presentDelivery(await engine.webhooks.delivery(who, id)),
});

const getAttempt = itemEndpoint({
  method: 'get',
  path: '/v1/attempts/{id}',
  name: 'getAttempt',
  tag,
  summary: 'An attempt of a delivery, with its answer',
  description: 'Answers 404 where its webhook was deleted.',
  pathId: 'The id of the attempt (`dlv_…-1763640000123`), as its delivery shows it.',
  parameters: z.object({}),
  schema: wholeAttemptSchema,
  handle: async ({ engine, who, id }) => presentWholeAttempt(await engine.webhooks.attempt(who, id)),
});

const redeliver = itemEndpoint({
  method: 'post',
  path: '/v1/webhooks/{id}/redeliver',
  name: 'redeliver',
  tag,
  summary: 'Deliver again what has failed',
  description: `All deliveries that have failed, the oldest ${LIMITS.maxRedeliveries} at a time, fewer with \`since\`, \`until\` and \`error_class\`, or with \`delivery_id\` one that has ended in whatever way. With \`ids\`, \`status\` or \`filter\` a request looks at so many, and passes over those whose event was deleted. \`webhook-id\` stays the same, so that a receiver can tell what it has seen; the schedule of retries begins anew. Answers 409 where the webhook is stopped.`,
  pathId,
  parameters: z
    .object({
      delivery_id: idParameter('Only this one (`dlv_…`).').optional(),
      ids: z
        .array(idParameter('`dlv_…`'))
        .min(1)
        .max(LIMITS.maxPageSize)
        .optional()
        .openapi({ description: 'Only these deliveries.' }),
      status: choicesParameter(ENDED_STATUSES, 'Those that have ended like this. Default: `failed`.'),
      filter: filterParameter,
      after: textParameter(200).optional().openapi({ description: 'The `end_cursor` of the request before.' }),
      ...failureParameters,
      dry_run: z
        .boolean()
        .optional()
        .openapi({ description: 'true: nothing is delivered; `count` says how many would be.' }),
    })
    .superRefine((input, context) => {
      const others = ['ids', 'status', 'filter', 'after', 'since', 'until', 'error_class', 'dry_run'] as const;
      for (const name of others)
        if (input.delivery_id !== undefined && input[name] !== undefined)
          context.addIssue({ code: 'custom', path: [name], message: 'does not go with delivery_id' });
    }),
  schema: redeliverySchema,
  handle: async ({ engine, who, id, input }) => {
    if (input.delivery_id !== undefined) return { count: await engine.webhooks.redeliver(who, id, input.delivery_id) };
    const choice = failuresOf(input);
    if (isMatching(input)) {
      const { ids, status: statuses, filter, after, dry_run: isDryRun } = input;
      const matching = { ...choice, ...given({ ids, statuses, filter, after, isDryRun }) };
      const { count, endCursor } = await engine.webhooks.redeliverMatching(who, id, matching);
      return { count, ...(endCursor === undefined ? {} : { end_cursor: endCursor }) };
    }
    if (input.dry_run === true) return { count: await engine.webhooks.countRedeliverable(who, id, choice) };
    return { count: await engine.webhooks.redeliver(who, id, choice) };
  },
});

/** Without these the failed ones are found by an index of their own. */
const isMatching = ({ ids, status, filter }: { ids?: unknown; status?: unknown; filter?: unknown }) =>
  ids !== undefined || status !== undefined || (filter !== undefined && filter !== null);
