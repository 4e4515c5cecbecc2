import { z } from '@hono/zod-openapi';
import {
  type AttemptRecord,
  DELIVERY_ERROR_CLASSES,
  DELIVERY_STATUSES,
  type DeliveryRecord,
  type WebhookRecord,
} from '@headwater/engine';
import { exceededLimitSchema } from './exceeded-limit.ts';
import { epochSeconds, secondsField } from './time.ts';

export const webhookSummarySchema = z
  .object({
    id: z.string().openapi({ example: 'wh_1vZ8kQ0aB3xYpL9mWc2T' }),
    user_id: z.string(),
    name: z.string().nullable(),
    description: z.string().nullable(),
    url: z.string(),
    format: z.enum(['raw', 'envelope']).openapi({
      description: '`raw`: the body is the emitted event; `envelope`: `{ type, timestamp, data }` around it.',
    }),
    active: z.boolean(),
    created_at: secondsField('When the webhook was made.'),
    updated_at: secondsField('When it last changed.'),
  })
  .openapi('WebhookSummary');

export const webhookSchema = webhookSummarySchema
  .extend({
    secret: z.string().openapi({
      description: 'Signs every delivery (Standard Webhooks). Left out of lists.',
      example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    }),
  })
  .openapi('Webhook');

export function presentWebhookSummary(webhook: WebhookRecord): z.output<typeof webhookSummarySchema> {
  return {
    id: webhook.id,
    user_id: webhook.userId,
    name: webhook.name ?? null,
    description: webhook.description ?? null,
    url: webhook.url,
    format: webhook.format,
    active: webhook.active,
    created_at: epochSeconds(webhook.createdAt),
    updated_at: epochSeconds(webhook.updatedAt),
  };
}

export function presentWebhook(webhook: WebhookRecord): z.output<typeof webhookSchema> {
  return { ...presentWebhookSummary(webhook), secret: webhook.secret };
}

export const attemptsSchema = z
  .array(
    z.object({
      at: z.string().openapi({ description: 'ISO 8601.' }),
      status_code: z.int().nullable(),
      error: z.string().nullable(),
      limit: exceededLimitSchema.optional().openapi({ description: 'The limit that is the reason of the error.' }),
      duration_ms: z.number(),
      response: z.string().nullable().openapi({ description: 'The beginning of what the receiver answered.' }),
    }),
  )
  .openapi({ description: 'Oldest first.' });

export function presentAttempts(attempts: readonly AttemptRecord[]): z.output<typeof attemptsSchema> {
  return attempts.map((attempt) => ({
    at: attempt.at,
    status_code: attempt.status_code ?? null,
    error: attempt.error ?? null,
    ...(attempt.limit === undefined ? {} : { limit: attempt.limit }),
    duration_ms: attempt.duration_ms,
    response: attempt.response ?? null,
  }));
}

export const deliverySchema = z
  .object({
    id: z.string().openapi({ example: 'dlv_1vZ8kQ0aB3xYpL9mWc2T' }),
    webhook_id: z.string(),
    emitter_id: z.string(),
    event_id: z.string(),
    status: z.enum(DELIVERY_STATUSES).openapi({
      description: '`sending`: its next attempt is under way or about to begin; `pending`: it waits for that.',
    }),
    error_class: z.enum(DELIVERY_ERROR_CLASSES).nullable().openapi({
      description:
        'How the last attempt failed, where it is known: `http_3xx`, `http_4xx`, `http_5xx` by the status of the answer; `timeout`; `connection`: there was none, or no whole answer; `refused`: this server may not send there; `internal`: it could not be sent.',
    }),
    attempts: attemptsSchema,
    next_attempt_at: secondsField('When it is tried next, of one that is pending.').nullable(),
    created_at: secondsField('When the event was emitted.'),
  })
  .openapi('Delivery');

export const redeliverySchema = z
  .object({
    count: z.int().openapi({ description: 'Deliveries that are due again, or would be with `dry_run`.' }),
  })
  .openapi('Redelivery');

export function presentDelivery(delivery: DeliveryRecord): z.output<typeof deliverySchema> {
  return {
    id: delivery.id,
    webhook_id: delivery.webhookId,
    emitter_id: delivery.emitterId,
    event_id: delivery.eventId,
    status: delivery.status,
    error_class: delivery.errorClass ?? null,
    attempts: presentAttempts(delivery.attempts),
    next_attempt_at: delivery.nextAttemptAt === undefined ? null : epochSeconds(delivery.nextAttemptAt),
    created_at: epochSeconds(delivery.createdAt),
  };
}
