import { z } from 'zod';
import { LIMITS } from '../limits/platform-limits.ts';

export const sampleReceiverSchema = z
  .object({
    url: z.string().meta({
      description: 'For a webhook. It stays the same.',
      example: 'https://hw.example.com/sample-receiver/4fK2mQ9xT7bVnLr0JcWzYp3sHdGa6UeN',
    }),
    max_requests: z.int().meta({ description: 'Of what it gets, so many of the newest are kept.' }),
    kept_seconds: z.int().meta({ description: 'So long.' }),
  })
  .meta({ id: 'SampleReceiver' });

export const sampleRequestSchema = z
  .object({
    id: z.string().meta({ description: 'The id of the request.', example: 'rcv_1vZ8kQ0aB3xYpL9mWc2T' }),
    webhook_id: z.string().meta({ description: 'The webhook that sent it.', example: 'wh_1vZ8kQ0aB3xYpL9mWc2T' }),
    delivery_id: z
      .string()
      .meta({ description: 'The delivery that it was an attempt of.', example: 'dlv_1vZ8kQ0aB3xYpL9mWc2T' }),
    received_at: z.int().meta({ description: 'Epoch milliseconds.', example: 1_763_640_000_123 }),
    verified: z.boolean().meta({
      description: 'The signature fits the body and the secret that the webhook has now, and its time is recent.',
    }),
    verdict: z.string().meta({
      description: '`The signature is verified`, or why it is not.',
      example: 'The signature is verified',
    }),
    headers: z.record(z.string(), z.string()).meta({ description: 'By their names in lower case.' }),
    body: z.string().meta({ description: `The first ${LIMITS.maxSampleBodyBytes} bytes.`, example: '{"order":1}' }),
    body_bytes: z.int().meta({ description: 'Of the whole body.', example: 11 }),
  })
  .meta({ id: 'SampleRequest' });
