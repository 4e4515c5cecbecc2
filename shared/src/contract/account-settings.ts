import { z } from 'zod';

export const accountSettingsSchema = z
  .object({
    account_id: z
      .string()
      .meta({ description: 'The account whose settings these are.', example: 'o_1vZ8kQ0aB3xYpL9mWc2T' }),
    trace_context: z.boolean().meta({
      description:
        'Whether `traceparent` and `tracestate` of requests to its endpoints are taken in, and passed on in deliveries and in `fetch` of components. Default: false.',
    }),
  })
  .meta({ id: 'AccountSettings' });
