import type { AttemptRecord, DeliveryRecord, WebhookRecord, WebhookTestResult } from '@headwater/engine';
import type {
  attemptsSchema,
  deliverySchema,
  Shown,
  webhookAuthSchema,
  webhookSchema,
  webhookSummarySchema,
  webhookTestSchema,
} from '@headwater/shared/contract';
import { presentDeliveryAttempt } from './delivery-attempt.ts';
import { epochSeconds } from './time.ts';

function presentAuth(auth: WebhookRecord['request']['auth']): Shown<typeof webhookAuthSchema> | null {
  if (auth?.type !== 'oauth2_client_credentials') return auth ?? null;
  const { type, tokenUrl, clientId, scope } = auth;
  return { type, token_url: tokenUrl, client_id: clientId, ...(scope === undefined ? {} : { scope }) };
}

export function presentWebhookSummary(webhook: WebhookRecord): Shown<typeof webhookSummarySchema> {
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

export function presentWebhook(webhook: WebhookRecord): Shown<typeof webhookSchema> {
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
export function presentWithoutSecrets(webhook: WebhookRecord): Shown<typeof webhookSchema> {
  const headers = Object.fromEntries(Object.keys(webhook.headers).map((name) => [name, '']));
  return { ...presentWebhook(webhook), secret: null, headers };
}

export function presentAttempts(attempts: readonly AttemptRecord[]): Shown<typeof attemptsSchema> {
  return attempts.map((attempt) => ({
    at: attempt.at,
    status_code: attempt.status_code ?? null,
    error: attempt.error ?? null,
    ...(attempt.limit === undefined ? {} : { limit: attempt.limit }),
    duration_ms: attempt.duration_ms,
    response: attempt.response ?? null,
  }));
}

export function presentDelivery(delivery: DeliveryRecord): Shown<typeof deliverySchema> {
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

export function presentWebhookTest({
  messageId,
  delivered,
  attempt,
}: WebhookTestResult): Shown<typeof webhookTestSchema> {
  const { id: _, ...shown } = presentDeliveryAttempt('', attempt);
  return { message_id: messageId, delivered, attempt: shown };
}
