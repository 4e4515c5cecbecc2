import { z } from '@hono/zod-openapi';
import type { WebhookAuth } from '@headwater/engine';
import { LIMITS, SIGNATURE_SCHEMES, WEBHOOK_METHODS } from '@headwater/shared';
import { httpUrlParameter, textParameter } from './schemas.ts';

const pem = (description: string) =>
  textParameter('maxWebhookCertificateBytes').nullable().optional().openapi({ description });
const authText = () => textParameter('maxWebhookAuthChars', 1);

const authParameter = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('basic').describe('Basic authentication.'),
      username: authText().describe('The user name.'),
      password: authText().describe('The password.'),
    }),
    z.strictObject({ type: z.literal('bearer').describe('A bearer token.'), token: authText().describe('The token.') }),
    z.strictObject({
      type: z.literal('oauth2_client_credentials').describe('A token of the OAuth 2.0 client credentials grant.'),
      token_url: httpUrlParameter().describe('Where tokens come from.'),
      client_id: authText().describe('The id of the client.'),
      client_secret: authText().describe('The secret of the client.'),
      scope: authText().optional().describe('The scope to ask for. Default: none.'),
    }),
  ])
  .nullable()
  .optional()
  .openapi({
    description:
      'What its requests prove themselves with, in `authorization`; stored encrypted and never shown. An OAuth token is asked for when it is needed, kept until it expires, and renewed once where the receiver answers 401. Null: nothing.',
  });

/** Settings of a webhook's requests. The engine judges their values. */
export const webhookRequestParameters = {
  headers: z
    .record(z.string().max(LIMITS.maxWebhookHeaderBytes), textParameter('maxWebhookHeaderBytes'))
    .optional()
    .openapi({
      description: `Headers that its requests carry, such as \`authorization\`; they are stored encrypted. They replace those of before. At most ${LIMITS.maxWebhookHeaders}.`,
      example: { authorization: 'Bearer 6f1c' },
    }),
  method: z.enum(WEBHOOK_METHODS).optional().openapi({ description: 'Default: `POST`.' }),
  auth: authParameter,
  ca_certificate: pem(
    'Certificates in PEM form that it trusts, in the place of public authorities: for receivers with one of their own. Null: public authorities.',
  ),
  client_certificate: pem('Its own certificate in PEM form, for mTLS, with `client_key`. Null: none.'),
  client_key: pem('The key of `client_certificate` in PEM form; stored encrypted and never shown.'),
  retry_schedule_seconds: z
    .array(z.int())
    .nullable()
    .optional()
    .openapi({
      description: `The wait after the first, second, … failed attempt: at most ${LIMITS.maxWebhookRetries} of 0 to ${LIMITS.maxWebhookRetryWaitSeconds} seconds. \`[]\`: one attempt. Null: as the server does it.`,
      example: [5, 60, 3600],
    }),
  disable_after_hours: z
    .int()
    .nullable()
    .optional()
    .openapi({
      description: `How long all its attempts may fail before it is disabled, which holds what waits; \`410 Gone\` disables it at once. 0: never. At most ${LIMITS.maxDisableAfterHours}. Null: ${LIMITS.defaultDisableAfterHours}.`,
    }),
  disable_failures_over_hours: z
    .int()
    .nullable()
    .optional()
    .openapi({
      description: `How long its failures must go on, without a day between two of them, before it is disabled. 0: one failure is enough. At most ${LIMITS.maxDisableFailuresOverHours}. Null: ${LIMITS.defaultDisableFailuresOverHours}.`,
    }),
  timeout_seconds: z
    .int()
    .nullable()
    .optional()
    .openapi({
      description: `For one attempt, 1 to ${LIMITS.maxWebhookTimeoutSeconds}. Null: as the server does it.`,
    }),
};

export const transformParameters = {
  transform_id: textParameter('maxNameChars', 1).nullable().optional().openapi({
    description:
      'A saved component of the type `transform`, by its id (`sc_…`), or by its key for the newest version there is now: it changes each request, or drops it. A version saved later holds once it is named here. Null: none.',
  }),
};

/** How fast, and in which order, its deliveries are sent. */
export const webhookPaceParameters = {
  ordering: z.enum(['none', 'fifo']).optional().openapi({
    description:
      '`fifo`: the next delivery is sent once the one before it has succeeded, is exhausted or was skipped. Default: `none`.',
  }),
  ordering_key: textParameter('maxNameChars').nullable().optional().openapi({
    description:
      'With `fifo`: a path in the event, such as `order.id`. Only deliveries with the same value there wait for each other. Null: all do.',
    example: 'order.id',
  }),
  rate_per_second: z
    .int()
    .nullable()
    .optional()
    .openapi({
      description: `Attempts a second over all nodes, 1 to ${LIMITS.maxWebhookRatePerSecond}. Null: as the account may.`,
    }),
  max_in_flight: z
    .int()
    .nullable()
    .optional()
    .openapi({
      description: `Attempts at the same time over all nodes, 1 to ${LIMITS.maxWebhookInFlight}. Null: as the account may.`,
    }),
  adaptive_rate: z
    .boolean()
    .optional()
    .openapi({
      description: `Fewer attempts a second where the receiver answers 429 or 503, not in time or ever slower, and more as it heals: up to \`rate_per_second\`, or ${LIMITS.adaptiveRatePerSecond}. Default: false.`,
    }),
};

export const secretParameter = textParameter('maxNameChars').optional().openapi({
  description:
    'Your own signing secret: `whsec_` and base64 of 24 to 64 bytes, or `whsk_` and base64 of an Ed25519 key. Default: a new one is made.',
});

export const signatureParameter = (byDefault: string) =>
  z
    .enum(SIGNATURE_SCHEMES)
    .optional()
    .openapi({
      description: `How requests are signed, as Standard Webhooks has it. \`v1\`: HMAC-SHA256 with a secret that both sides have; \`v1a\`: Ed25519 with a private key, and receivers have the public one. Default: ${byDefault}.`,
    });

interface RequestInput {
  headers?: Record<string, string> | undefined;
  retry_schedule_seconds?: number[] | null | undefined;
  timeout_seconds?: number | null | undefined;
  disable_after_hours?: number | null | undefined;
  disable_failures_over_hours?: number | null | undefined;
  ordering?: 'none' | 'fifo' | undefined;
  ordering_key?: string | null | undefined;
  rate_per_second?: number | null | undefined;
  max_in_flight?: number | null | undefined;
  adaptive_rate?: boolean | undefined;
  transform_id?: string | null | undefined;
  method?: (typeof WEBHOOK_METHODS)[number] | undefined;
  auth?: z.output<typeof authParameter>;
  ca_certificate?: string | null | undefined;
  client_certificate?: string | null | undefined;
  client_key?: string | null | undefined;
}

export function webhookRequestOf(input: RequestInput) {
  return {
    headers: input.headers,
    retryScheduleSeconds: input.retry_schedule_seconds,
    timeoutSeconds: input.timeout_seconds,
    disableAfterHours: input.disable_after_hours,
    disableFailuresOverHours: input.disable_failures_over_hours,
    ordering: input.ordering,
    orderingKey: input.ordering_key,
    ratePerSecond: input.rate_per_second,
    maxInFlight: input.max_in_flight,
    adaptiveRate: input.adaptive_rate,
    transformId: input.transform_id,
    method: input.method,
    auth: authOf(input.auth),
    caCertificate: input.ca_certificate,
    clientCertificate: input.client_certificate,
    clientKey: input.client_key,
  };
}

function authOf(auth: RequestInput['auth']): WebhookAuth | null | undefined {
  if (auth?.type !== 'oauth2_client_credentials') return auth;
  const { type, token_url: tokenUrl, client_id: clientId, client_secret: clientSecret, scope } = auth;
  return { type, tokenUrl, clientId, clientSecret, ...(scope === undefined ? {} : { scope }) };
}
