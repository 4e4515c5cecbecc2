import { z } from '@hono/zod-openapi';
import { LIMITS } from '@headwater/shared';
import { textParameter } from './schemas.ts';

/** Settings of a webhook's requests. The engine judges their values. */
export const webhookRequestParameters = {
  headers: z
    .record(z.string().max(LIMITS.maxWebhookHeaderBytes), textParameter('maxWebhookHeaderBytes'))
    .optional()
    .openapi({
      description: `Headers that its requests carry, such as \`authorization\`; they are stored encrypted. They replace those of before. At most ${LIMITS.maxWebhookHeaders}.`,
      example: { authorization: 'Bearer 6f1c' },
    }),
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
  timeout_seconds: z
    .int()
    .nullable()
    .optional()
    .openapi({
      description: `For one attempt, 1 to ${LIMITS.maxWebhookTimeoutSeconds}. Null: as the server does it.`,
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
};

export const secretParameter = textParameter('maxNameChars').optional().openapi({
  description: 'Your own signing secret: `whsec_` and base64 of 24 to 64 bytes. Default: a new one is made.',
});

interface RequestInput {
  headers?: Record<string, string> | undefined;
  retry_schedule_seconds?: number[] | null | undefined;
  timeout_seconds?: number | null | undefined;
  disable_after_hours?: number | null | undefined;
  ordering?: 'none' | 'fifo' | undefined;
  ordering_key?: string | null | undefined;
  rate_per_second?: number | null | undefined;
  max_in_flight?: number | null | undefined;
}

export function webhookRequestOf(input: RequestInput) {
  const { headers, retry_schedule_seconds: retryScheduleSeconds, timeout_seconds: timeoutSeconds } = input;
  const { disable_after_hours: disableAfterHours } = input;
  const { ordering, ordering_key: orderingKey, rate_per_second: ratePerSecond, max_in_flight: maxInFlight } = input;
  const pace = { ordering, orderingKey, ratePerSecond, maxInFlight };
  return { headers, retryScheduleSeconds, timeoutSeconds, disableAfterHours, ...pace };
}
