import { z } from '@hono/zod-openapi';
import type { SampleRequest } from '@headwater/engine';
import { LIMITS } from '@headwater/shared';

export const sampleReceiverSchema = z
  .object({
    url: z.string().openapi({
      description: 'For a webhook. It stays the same.',
      example: 'https://hw.example.com/sample-receiver/4fK2mQ9xT7bVnLr0JcWzYp3sHdGa6UeN',
    }),
    max_requests: z.int().openapi({ description: 'Of what it gets, so many of the newest are kept.' }),
    kept_seconds: z.int().openapi({ description: 'So long.' }),
  })
  .openapi('SampleReceiver');

export function presentSampleReceiver(url: string): z.output<typeof sampleReceiverSchema> {
  const { maxSampleRequests, sampleRequestsKeptMs } = LIMITS;
  return { url, max_requests: maxSampleRequests, kept_seconds: sampleRequestsKeptMs / 1000 };
}

export const sampleRequestSchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the request.', example: 'rcv_1vZ8kQ0aB3xYpL9mWc2T' }),
    webhook_id: z.string().openapi({ description: 'The webhook that sent it.', example: 'wh_1vZ8kQ0aB3xYpL9mWc2T' }),
    delivery_id: z
      .string()
      .openapi({ description: 'The delivery that it was an attempt of.', example: 'dlv_1vZ8kQ0aB3xYpL9mWc2T' }),
    received_at: z.int().openapi({ description: 'Epoch milliseconds.', example: 1_763_640_000_123 }),
    verified: z.boolean().openapi({
      description: 'The signature fits the body and the secret that the webhook has now, and its time is recent.',
    }),
    verdict: z.string().openapi({
      description: '`The signature is verified`, or why it is not.',
      example: 'The signature is verified',
    }),
    headers: z.record(z.string(), z.string()).openapi({ description: 'By their names in lower case.' }),
    body: z.string().openapi({ description: `The first ${LIMITS.maxSampleBodyBytes} bytes.`, example: '{"order":1}' }),
    body_bytes: z.int().openapi({ description: 'Of the whole body.', example: 11 }),
  })
  .openapi('SampleRequest');

export function presentSampleRequest(request: SampleRequest): z.output<typeof sampleRequestSchema> {
  const { id, webhookId, deliveryId, receivedAtMs, verified, verdict, headers, body, bodyBytes } = request;
  return {
    id,
    webhook_id: webhookId,
    delivery_id: deliveryId,
    received_at: receivedAtMs,
    verified,
    verdict,
    headers,
    body,
    body_bytes: bodyBytes,
  };
}
