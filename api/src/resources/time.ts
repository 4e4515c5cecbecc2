import { z } from '@hono/zod-openapi';

/** Timestamps of resources are whole epoch seconds; those of events and runs epoch milliseconds. */
export function epochSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

export function epochSecondsField(description: string) {
  return z.int().openapi({ description: `${description} Epoch seconds.`, example: 1_763_640_000 });
}
