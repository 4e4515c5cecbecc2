import { z } from '@hono/zod-openapi';
import { RATE_LIMIT_HEADER, RATE_LIMIT_POLICY_HEADER } from '../rate-limit-headers.ts';

/** Headers of answers to requests that are counted. */
export const rateLimitSchema = z.object({
  [RATE_LIMIT_POLICY_HEADER]: z.string().optional().openapi({
    description: 'The quota `q` of a window of `w` seconds. Absent where the account has no `maxRequestsPerSecond`.',
    example: '"maxRequestsPerSecond";q=100;w=10',
  }),
  [RATE_LIMIT_HEADER]: z.string().optional().openapi({
    description: '`r` more requests may come at once; `t` seconds from now it is the whole quota again.',
    example: '"maxRequestsPerSecond";r=87;t=2',
  }),
});

/** Headers of the 429: `t` is the time of `retry-after`. */
export const rateLimitedSchema = rateLimitSchema.extend({
  'retry-after': z.string().optional().openapi({ description: 'Seconds from now.', example: '1' }),
});
