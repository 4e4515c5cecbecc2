import { z } from '@hono/zod-openapi';
import { LIMITS } from '@headwater/shared';
import type { App } from '../app-options.ts';

const DESCRIPTION = `Sent to every webhook that is subscribed to the emitter. Answer with a 2xx within ${LIMITS.deliveryTimeoutMs / 1000} seconds; anything else, redirects too, is a failed attempt and is tried again later.
Check \`webhook-signature\` (Standard Webhooks) before you trust the body: it holds one or more of \`v1,<base64>\`, separated by spaces; one of them must be the HMAC-SHA256 of \`<webhook-id>.<webhook-timestamp>.<body>\` under the base64-decoded part of the secret after \`whsec_\`. Refuse old timestamps, and use \`webhook-id\` to recognise a repetition.`;

const headers = z.object({
  'webhook-id': z
    .string()
    .openapi({ description: 'Of the event; the same in every attempt, and for every webhook that gets it.' }),
  'webhook-timestamp': z.string().openapi({ description: 'Of the attempt, epoch seconds.' }),
  'webhook-signature': z.string().openapi({
    description: '`v1,<base64>`, one for each secret in use, separated by spaces.',
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  }),
  'headwater-event-id': z.string().openapi({ description: 'The id of the event.', example: '1763640000123-0' }),
  'headwater-emitter-id': z.string().openapi({ description: 'What emitted it: `dc_…`.' }),
  'headwater-channel': z.string().optional().openapi({
    description: 'The channel, percent-encoded where it holds more than a header can; absent for the default one.',
  }),
  'headwater-attempt': z.string().openapi({ description: 'From 1.' }),
});

const envelope = z
  .object({
    type: z.string().describe('The channel of the event.'),
    timestamp: z.string().openapi({ description: 'ISO 8601.' }),
    data: z.unknown().openapi({ description: 'What was emitted.' }),
  })
  .openapi('EventEnvelope');

export function registerDelivery(registry: App['openAPIRegistry']): void {
  registry.registerWebhook({
    method: 'post',
    path: 'event',
    operationId: 'deliverEvent',
    tags: ['Deliveries'],
    summary: 'An event, signed',
    description: DESCRIPTION,
    security: [],
    request: {
      headers,
      body: {
        required: true,
        description: 'With `format: raw` (default) what was emitted, as JSON; with `envelope` the object shown.',
        content: { 'application/json': { schema: z.union([z.unknown().openapi({ description: 'raw' }), envelope]) } },
      },
    },
    responses: { 200: { description: 'Received. Any 2xx will do.' } },
  });
}
