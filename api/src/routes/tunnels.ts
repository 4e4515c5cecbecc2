import { z } from '@hono/zod-openapi';
import { HeadwaterError, LIMITS } from '@headwater/shared';
import { webhookSchema } from '@headwater/shared/contract';
import { emptyEndpoint, type Endpoint, itemEndpoint, messagesEndpoint } from '../endpoint.ts';
import { given } from '../parameters/given.ts';
import { idParameter, textParameter } from '../parameters/schemas.ts';
import { presentWebhook } from '../resources/webhook.ts';

const tag = 'Webhooks';
const pathId = 'The id of the webhook (`wh_…`).';

export function tunnelEndpoints(): Endpoint[] {
  return [createTunnel, listen, answer];
}

const createTunnel = itemEndpoint({
  method: 'post',
  path: '/v1/tunnels',
  name: 'createTunnel',
  tag,
  summary: 'Make a webhook that a developer listens to',
  description: `For \`hw listen\`: its requests are streamed by \`GET /v1/webhooks/{id}/tunnel\` and answered with \`POST /v1/webhooks/{id}/answer\`. Each event has one attempt of 30 seconds. It is a webhook like any other, and is deleted ${LIMITS.tunnelKeptMs / 60_000} minutes after it was listened to last.`,
  parameters: z.object({
    name: textParameter('maxNameChars').optional().openapi({ description: 'Default: `hw listen`.' }),
    emitter_id: idParameter('Only events of this source or workflow. Default: all of the account.').optional(),
    event_name: textParameter('maxChannelChars').optional().openapi({
      description:
        "Only this channel, or a pattern: `order.*`; '' is the default channel. Default: all but the built-in ones.",
    }),
  }),
  schema: webhookSchema,
  handle: async ({ engine, who, input }) => {
    const { name, emitter_id: emitterId, event_name: eventName } = input;
    const { id } = await engine.tunnels.create(who, given({ name, emitterId, eventName }));
    return presentWebhook(await engine.webhooks.get(who, id));
  },
});

const tunnelRequestSchema = z
  .object({
    id: z
      .string()
      .openapi({ description: 'The id of the request, for its answer.', example: 'treq_1vZ8kQ0aB3xYpL9mWc2T' }),
    delivery_id: z.string().describe('The delivery that it is an attempt of.'),
    headers: z
      .record(z.string(), z.string())
      .openapi({ description: 'As they would have been sent, signature and all.' }),
    body: z.string().describe('The body, as it is signed.'),
  })
  .openapi('TunnelRequest');

const listen = messagesEndpoint({
  method: 'get',
  path: '/v1/webhooks/{id}/tunnel',
  name: 'listenToTunnel',
  tag,
  summary: 'The requests of a webhook that a developer listens to, as they come',
  description:
    'Server-sent events. Each request is sent once, to one of those who listen; its attempt waits for the answer.',
  pathId,
  parameters: z.object({}),
  schema: tunnelRequestSchema,
  open: async ({ engine, who, id }) => {
    const stream = await engine.tunnels.listen(who, id);
    return {
      async next(waitMs) {
        const requests = await stream.next(waitMs);
        return requests?.map(({ deliveryId, ...request }) => ({
          id: request.id,
          data: JSON.stringify({
            id: request.id,
            delivery_id: deliveryId,
            headers: request.headers,
            body: request.body,
          }),
        }));
      },
      close: stream.close,
    };
  },
});

const answer = emptyEndpoint({
  method: 'post',
  path: '/v1/webhooks/{id}/answer',
  name: 'answerTunnelRequest',
  tag,
  summary: 'Answer a request of a webhook that a developer listens to',
  description: 'The answer becomes that of the attempt. 404: the attempt has ended, as nothing was answered in time.',
  pathId,
  example: { request_id: 'treq_1vZ8kQ0aB3xYpL9mWc2T', status: 200, body: 'ok' },
  parameters: z.object({
    request_id: idParameter('Of the request (`treq_…`).'),
    status: z.int().min(100).max(599).optional().openapi({ description: 'The HTTP status. Either this or `error`.' }),
    headers: z
      .record(z.string().max(256), z.string().max(LIMITS.maxTunnelHeadersChars))
      .refine((headers) => JSON.stringify(headers).length <= LIMITS.maxTunnelHeadersChars, 'are too long')
      .optional()
      .describe('The headers of the answer.'),
    body: textParameter('maxTunnelAnswerChars').optional().describe('The body of the answer.'),
    error: textParameter('maxTunnelErrorChars', 1).optional().openapi({ description: 'Why there is no answer.' }),
  }),
  status: 204,
  handle: async ({ engine, who, id, input }) => {
    const { request_id: requestId, status, headers, body, error } = input;
    if ((status === undefined) === (error === undefined))
      throw new HeadwaterError('INVALID_REQUEST', 'Give either status or error');
    await engine.tunnels.answer(who, id, { requestId, ...given({ status, headers, body, error }) });
  },
});
