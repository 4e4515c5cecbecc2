import { z } from '@hono/zod-openapi';
import {
  type AttemptRecord,
  DELIVERY_STATUSES,
  SIGNATURE_SCHEMES,
  WEBHOOK_AUTH_TYPES,
  WEBHOOK_FORMATS,
  WEBHOOK_METHODS,
  type DeliveryRecord,
  type WebhookRecord,
  type WebhookTestResult,
} from '@headwater/engine';
import { deliveryAttemptSchema, errorClassSchema, presentDeliveryAttempt } from './delivery-attempt.ts';
import { exceededLimitSchema } from './exceeded-limit.ts';
import { epochSeconds, secondsField } from './time.ts';

export const FORMATS =
  '`raw`: the body is the emitted event; `envelope`: `{ type, timestamp, data }` around it; `cloudevents`: CloudEvents 1.0, structured; `cloudevents-binary`: CloudEvents 1.0 with its attributes in `ce-` headers.';

const authSchema = z
  .object({
    type: z.enum(WEBHOOK_AUTH_TYPES).describe('The kind of proof.'),
    username: z.string().optional().describe('Of `basic`: the user name.'),
    token_url: z.string().optional().describe('Of `oauth2_client_credentials`: where tokens come from.'),
    client_id: z.string().optional().describe('Of `oauth2_client_credentials`: the id of the client.'),
    scope: z.string().optional().describe('Of `oauth2_client_credentials`: the scope that is asked for.'),
  })
  .openapi({ description: 'What its requests prove themselves with, without secrets: those are never shown.' });

function presentAuth(auth: WebhookRecord['request']['auth']): z.output<typeof authSchema> | null {
  if (auth?.type !== 'oauth2_client_credentials') return auth ?? null;
  const { type, tokenUrl, clientId, scope } = auth;
  return { type, token_url: tokenUrl, client_id: clientId, ...(scope === undefined ? {} : { scope }) };
}

export const webhookSummarySchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the webhook.', example: 'wh_1vZ8kQ0aB3xYpL9mWc2T' }),
    user_id: z.string().describe('The user who made it.'),
    name: z.string().nullable().describe('Its name. Null: none.'),
    description: z.string().nullable().describe('What it is for. Null: nothing is said.'),
    url: z.string().describe('Where events are sent.'),
    format: z.enum(WEBHOOK_FORMATS).openapi({ description: FORMATS }),
    method: z.enum(WEBHOOK_METHODS).describe('The method of its requests.'),
    active: z.boolean().openapi({ description: 'false: its deliveries are held.' }),
    drain_per_second: z.int().nullable().openapi({
      description: 'How much of what it held is sent a second. Null: as fast as it goes, or all was sent.',
    }),
    draining_since: secondsField('When it was started, while not all that it held was sent.').nullable(),
    retry_schedule_seconds: z
      .array(z.int())
      .nullable()
      .openapi({ description: 'The wait after the first, second, … failed attempt. Null: as the server does it.' }),
    timeout_seconds: z.int().nullable().openapi({ description: 'For one attempt. Null: as the server does it.' }),
    put_off_until: secondsField('`Retry-After` of a 429 or 503: nothing is sent before.').nullable(),
    disable_after_hours: z.int().nullable().openapi({
      description: 'How long it may fail before it is disabled. 0: for ever. Null: as the server does it.',
    }),
    disable_failures_over_hours: z.int().nullable().openapi({
      description: 'How long its failures must go on for that. 0: one is enough. Null: as the server does it.',
    }),
    ordering: z
      .enum(['none', 'fifo'])
      .describe('`fifo`: an event waits until those before it are delivered. `none`: no order.'),
    ordering_key: z
      .string()
      .nullable()
      .openapi({ description: 'The path of the key in the event. Null: all have the same.' }),
    rate_per_second: z.int().nullable().openapi({ description: 'Attempts a second. Null: as the account may.' }),
    max_in_flight: z.int().nullable().openapi({ description: 'Attempts at the same time. Null: as the account may.' }),
    adaptive_rate: z
      .boolean()
      .openapi({ description: 'Whether fewer attempts begin while the receiver cannot follow.' }),
    current_rate_per_second: z.number().nullable().openapi({
      description: 'With `adaptive_rate`: attempts that may begin in a second now. Null: it does not adapt.',
    }),
    transform_id: z.string().nullable().openapi({
      description: 'The component that changes each of its requests, or drops it (`sc_…`).',
    }),
    failing_since: secondsField('When its attempts began to fail, all of them since.').nullable(),
    disabled_at: secondsField('When it was stopped because of its failures.').nullable(),
    disabled_reason: z.enum(['failing', 'gone']).nullable().openapi({
      description: '`failing`: for `disable_after_hours`; `gone`: it answered `410 Gone`.',
    }),
    created_at: secondsField('When the webhook was made.'),
    updated_at: secondsField('When it last changed.'),
  })
  .openapi('WebhookSummary');

export const webhookSchema = webhookSummarySchema
  .extend({
    secret: z.string().nullable().openapi({
      description:
        'Signs every delivery (Standard Webhooks). Left out of lists; null for a key with the scope `read`, and with `v1a`, whose private key is never shown.',
      example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    }),
    signature: z.enum(SIGNATURE_SCHEMES).openapi({
      description: '`v1`: HMAC-SHA256 with the secret; `v1a`: Ed25519 with a private key.',
    }),
    public_key: z.string().nullable().openapi({
      description: 'Receivers verify `v1a` with it (`whpk_…`). Null with `v1`.',
      example: 'whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=',
    }),
    previous_until: secondsField('The secret before it signs as well until then; null where there is none.').nullable(),
    headers: z
      .record(z.string(), z.string())
      .openapi({ description: 'Own headers of its requests, names in lower case. Left out of lists.' }),
    auth: authSchema.nullable().describe('How its requests prove themselves. Null: by the signature alone.'),
    ca_certificate: z.string().nullable().openapi({ description: 'PEM. Null: public authorities are trusted.' }),
    client_certificate: z.string().nullable().openapi({ description: 'PEM, for mTLS. Its key is never shown.' }),
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
    method: webhook.request.method ?? 'POST',
    active: webhook.active,
    drain_per_second: webhook.drainPerSecond ?? null,
    draining_since: webhook.drainSince === undefined ? null : epochSeconds(webhook.drainSince),
    retry_schedule_seconds: webhook.retryScheduleSeconds ?? null,
    timeout_seconds: webhook.timeoutSeconds ?? null,
    put_off_until: webhook.putOffUntil === undefined ? null : epochSeconds(webhook.putOffUntil),
    disable_after_hours: webhook.disableAfterHours ?? null,
    disable_failures_over_hours: webhook.disableFailuresOverHours ?? null,
    ordering: webhook.ordering,
    ordering_key: webhook.orderingKey ?? null,
    rate_per_second: webhook.ratePerSecond ?? null,
    max_in_flight: webhook.maxInFlight ?? null,
    adaptive_rate: webhook.adaptiveRate,
    current_rate_per_second: webhook.currentRatePerSecond ?? null,
    transform_id: webhook.transformId ?? null,
    failing_since: webhook.failingSince === undefined ? null : epochSeconds(webhook.failingSince),
    disabled_at: webhook.disabled === undefined ? null : epochSeconds(webhook.disabled.at),
    disabled_reason: webhook.disabled?.reason ?? null,
    created_at: epochSeconds(webhook.createdAt),
    updated_at: epochSeconds(webhook.updatedAt),
  };
}

export function presentWebhook(webhook: WebhookRecord): z.output<typeof webhookSchema> {
  const { secret, previousUntil, headers } = webhook;
  const isOver = previousUntil === undefined || previousUntil.getTime() <= Date.now();
  return {
    ...presentWebhookSummary(webhook),
    secret: webhook.signature === 'v1' ? secret : null,
    signature: webhook.signature,
    public_key: webhook.publicKey ?? null,
    previous_until: isOver ? null : epochSeconds(previousUntil),
    headers,
    auth: presentAuth(webhook.request.auth),
    ca_certificate: webhook.request.caCertificate ?? null,
    client_certificate: webhook.request.clientCertificate ?? null,
  };
}

/**
 * For keys that may read and not change: without the secret, and with the names of headers alone.
 */
export function presentWithoutSecrets(webhook: WebhookRecord): z.output<typeof webhookSchema> {
  const headers = Object.fromEntries(Object.keys(webhook.headers).map((name) => [name, '']));
  return { ...presentWebhook(webhook), secret: null, headers };
}

export const attemptsSchema = z
  .array(
    z.object({
      at: z.string().openapi({ description: 'ISO 8601.' }),
      status_code: z.int().nullable().describe('The HTTP status of the answer. Null: there was none.'),
      error: z.string().nullable().describe('Why it failed, in words. Null: it did not.'),
      limit: exceededLimitSchema.optional().openapi({ description: 'The limit that is the reason of the error.' }),
      duration_ms: z.number().describe('How long it took, in milliseconds.'),
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
    id: z.string().openapi({ description: 'The id of the delivery.', example: 'dlv_1vZ8kQ0aB3xYpL9mWc2T' }),
    webhook_id: z.string().describe('The webhook that gets the event.'),
    emitter_id: z.string().describe('The source or workflow that emitted the event.'),
    event_id: z.string().describe('The id of the event.'),
    status: z.enum(DELIVERY_STATUSES).openapi({
      description:
        '`sending`: its next attempt is under way or about to begin; `pending`: it waits for that; `held`: its webhook is stopped, and it waits for the start; `dropped`: its transform has dropped it, and the attempt says why.',
    }),
    error_class: errorClassSchema,
    attempts: z.array(deliveryAttemptSchema).openapi({ description: 'Oldest first.' }),
    next_attempt_at: secondsField('When it is tried next, of one that is pending.').nullable(),
    replay_id: z.string().nullable().openapi({ description: 'The replay that made it.' }),
    created_at: secondsField('When the event was emitted.'),
  })
  .openapi('Delivery');

export const redeliverySchema = z
  .object({
    count: z.int().openapi({ description: 'Deliveries that are due again, or would be with `dry_run`.' }),
    end_cursor: z.string().optional().openapi({
      description: 'With `status` or `filter`: more may match behind what was looked at; give it as `after`.',
    }),
  })
  .openapi('Redelivery');

export const retrySchema = z
  .object({
    count: z.int().openapi({ description: 'Deliveries that are due now.' }),
    end_cursor: z.string().optional().openapi({
      description: 'With `filter`: more may wait behind what was looked through; give it as `after`.',
    }),
  })
  .openapi('Retry');

export const discardSchema = z
  .object({ count: z.int().openapi({ description: 'Deliveries that are cancelled.' }) })
  .openapi('Discard');

export function presentDelivery(delivery: DeliveryRecord): z.output<typeof deliverySchema> {
  return {
    id: delivery.id,
    webhook_id: delivery.webhookId,
    emitter_id: delivery.emitterId,
    event_id: delivery.eventId,
    status: delivery.status,
    error_class: delivery.errorClass ?? null,
    attempts: delivery.attempts.map((attempt) => presentDeliveryAttempt(delivery.id, attempt)),
    next_attempt_at: delivery.nextAttemptAt === undefined ? null : epochSeconds(delivery.nextAttemptAt),
    replay_id: delivery.replayId ?? null,
    created_at: epochSeconds(delivery.createdAt),
  };
}

export const secretRotationSchema = z
  .object({
    id: z.string().describe('The id of the webhook.'),
    secret: z.string().nullable().openapi({ description: 'The new secret. Null with `v1a`.' }),
    public_key: z.string().nullable().openapi({ description: 'Receivers verify `v1a` with it. Null with `v1`.' }),
    previous_until: secondsField('Until then requests carry a signature of the old secret as well.').nullable(),
  })
  .openapi('SecretRotation');

export const webhookTestSchema = z
  .object({
    message_id: z.string().openapi({ description: 'The header `webhook-id` of the request.' }),
    delivered: z.boolean().openapi({ description: 'Whether the receiver answered with a 2xx.' }),
    attempt: deliveryAttemptSchema.omit({ id: true }).describe('The attempt that was made.'),
  })
  .openapi('WebhookTest');

export function presentWebhookTest({
  messageId,
  delivered,
  attempt,
}: WebhookTestResult): z.output<typeof webhookTestSchema> {
  const { id: _, ...shown } = presentDeliveryAttempt('', attempt);
  return { message_id: messageId, delivered, attempt: shown };
}
