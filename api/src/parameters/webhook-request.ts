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

export const secretParameter = textParameter('maxNameChars').optional().openapi({
  description: 'Your own signing secret: `whsec_` and base64 of 24 to 64 bytes. Default: a new one is made.',
});

interface RequestInput {
  headers?: Record<string, string> | undefined;
  retry_schedule_seconds?: number[] | null | undefined;
  timeout_seconds?: number | null | undefined;
  disable_after_hours?: number | null | undefined;
}

export function webhookRequestOf(input: RequestInput) {
  const { headers, retry_schedule_seconds: retryScheduleSeconds, timeout_seconds: timeoutSeconds } = input;
  const { disable_after_hours: disableAfterHours } = input;
  return { headers, retryScheduleSeconds, timeoutSeconds, disableAfterHours };
}
