import { z } from 'zod';
import { SIGNATURE_SCHEMES, WEBHOOK_FORMATS, WEBHOOK_METHODS } from '../webhook-choices.ts';
import { deliveryAttemptSchema } from './delivery.ts';
import { secondsField } from './fields.ts';

export const FORMATS =
  '`raw`: the body is the emitted event; `envelope`: `{ type, timestamp, data }` around it; `cloudevents`: CloudEvents 1.0, structured; `cloudevents-binary`: CloudEvents 1.0 with its attributes in `ce-` headers.';

export const webhookAuthSchema = z
  .object({
    type: z.enum(['basic', 'bearer', 'oauth2_client_credentials']).describe('The kind of proof.'),
    username: z.string().optional().describe('Of `basic`: the user name.'),
    token_url: z.string().optional().describe('Of `oauth2_client_credentials`: where tokens come from.'),
    client_id: z.string().optional().describe('Of `oauth2_client_credentials`: the id of the client.'),
    scope: z.string().optional().describe('Of `oauth2_client_credentials`: the scope that is asked for.'),
  })
  .meta({ description: 'What its requests prove themselves with, without secrets: those are never shown.' });

export const webhookSummarySchema = z
  .object({
    id: z.string().meta({ description: 'The id of the webhook.', example: 'wh_1vZ8kQ0aB3xYpL9mWc2T' }),
    user_id: z.string().describe('The user who made it.'),
    name: z.string().nullable().describe('Its name. Null: none.'),
    description: z.string().nullable().describe('What it is for. Null: nothing is said.'),
    url: z.string().describe('Where events are sent.'),
    format: z.enum(WEBHOOK_FORMATS).meta({ description: FORMATS }),
    method: z.enum(WEBHOOK_METHODS).describe('The method of its requests.'),
    active: z.boolean().meta({ description: 'false: its deliveries are held.' }),
    drain_per_second: z.int().nullable().meta({
      description: 'How much of what it held is sent a second. Null: as fast as it goes, or all was sent.',
    }),
    draining_since: secondsField('When it was started, while not all that it held was sent.').nullable(),
    retry_schedule_seconds: z
      .array(z.int())
      .nullable()
      .meta({ description: 'The wait after the first, second, … failed attempt. Null: as the server does it.' }),
    timeout_seconds: z.int().nullable().meta({ description: 'For one attempt. Null: as the server does it.' }),
    put_off_until: secondsField('`Retry-After` of a 429 or 503: nothing is sent before.').nullable(),
    disable_after_hours: z.int().nullable().meta({
      description: 'How long it may fail before it is disabled. 0: for ever. Null: as the server does it.',
    }),
    disable_failures_over_hours: z.int().nullable().meta({
      description: 'How long its failures must go on for that. 0: one is enough. Null: as the server does it.',
    }),
    ordering: z
      .enum(['none', 'fifo'])
      .describe('`fifo`: an event waits until those before it are delivered. `none`: no order.'),
    ordering_key: z
      .string()
      .nullable()
      .meta({ description: 'The path of the key in the event. Null: all have the same.' }),
    rate_per_second: z.int().nullable().meta({ description: 'Attempts a second. Null: as the account may.' }),
    max_in_flight: z.int().nullable().meta({ description: 'Attempts at the same time. Null: as the account may.' }),
    adaptive_rate: z.boolean().meta({ description: 'Whether fewer attempts begin while the receiver cannot follow.' }),
    current_rate_per_second: z.number().nullable().meta({
      description: 'With `adaptive_rate`: attempts that may begin in a second now. Null: it does not adapt.',
    }),
    transform_id: z.string().nullable().meta({
      description: 'The component that changes each of its requests, or drops it (`sc_…`).',
    }),
    failing_since: secondsField('When its attempts began to fail, all of them since.').nullable(),
    disabled_at: secondsField('When it was stopped because of its failures.').nullable(),
    disabled_reason: z.enum(['failing', 'gone']).nullable().meta({
      description: '`failing`: for `disable_after_hours`; `gone`: it answered `410 Gone`.',
    }),
    created_at: secondsField('When the webhook was made.'),
    updated_at: secondsField('When it last changed.'),
  })
  .meta({ id: 'WebhookSummary' });

export const webhookSchema = webhookSummarySchema
  .and(
    z.object({
      secret: z.string().nullable().meta({
        description:
          'Signs every delivery (Standard Webhooks). Left out of lists; null for a key with the scope `read`, and with `v1a`, whose private key is never shown.',
        example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      }),
      signature: z.enum(SIGNATURE_SCHEMES).meta({
        description: '`v1`: HMAC-SHA256 with the secret; `v1a`: Ed25519 with a private key.',
      }),
      public_key: z.string().nullable().meta({
        description: 'Receivers verify `v1a` with it (`whpk_…`). Null with `v1`.',
        example: 'whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=',
      }),
      previous_until: secondsField(
        'The secret before it signs as well until then; null where there is none.',
      ).nullable(),
      headers: z
        .record(z.string(), z.string())
        .meta({ description: 'Own headers of its requests, names in lower case. Left out of lists.' }),
      auth: webhookAuthSchema.nullable().describe('How its requests prove themselves. Null: by the signature alone.'),
      ca_certificate: z.string().nullable().meta({ description: 'PEM. Null: public authorities are trusted.' }),
      client_certificate: z.string().nullable().meta({ description: 'PEM, for mTLS. Its key is never shown.' }),
    }),
  )
  .meta({ id: 'Webhook' });

export const secretRotationSchema = z
  .object({
    id: z.string().describe('The id of the webhook.'),
    secret: z.string().nullable().meta({ description: 'The new secret. Null with `v1a`.' }),
    public_key: z.string().nullable().meta({ description: 'Receivers verify `v1a` with it. Null with `v1`.' }),
    previous_until: secondsField('Until then requests carry a signature of the old secret as well.').nullable(),
  })
  .meta({ id: 'SecretRotation' });

export const webhookTestSchema = z
  .object({
    message_id: z.string().meta({ description: 'The header `webhook-id` of the request.' }),
    delivered: z.boolean().meta({ description: 'Whether the receiver answered with a 2xx.' }),
    attempt: deliveryAttemptSchema.omit({ id: true }).describe('The attempt that was made.'),
  })
  .meta({ id: 'WebhookTest' });
