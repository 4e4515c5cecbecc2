import { z } from '@hono/zod-openapi';

/** The last moment that a date can name. */
const MAX_DATE_MS = 8.64e15;

export function momentParameter(description: string) {
  return z
    .int()
    .min(0)
    .max(MAX_DATE_MS)
    .optional()
    .openapi({ description: `${description} Epoch milliseconds.` });
}

export function dateOf(ms: number | undefined): Date | undefined {
  return ms === undefined ? undefined : new Date(ms);
}
