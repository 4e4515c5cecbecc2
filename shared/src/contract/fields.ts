import { z } from 'zod';

export const seconds = z.codec(z.int(), z.date(), {
  decode: (epochSeconds) => new Date(epochSeconds * 1000),
  encode: (date) => Math.floor(date.getTime() / 1000),
});

/** Times of resources: whole epoch seconds in answers, a date in the engine. */
export function secondsField(description: string) {
  return seconds.meta({ description: `${description} Epoch seconds.`, example: 1_763_640_000 });
}

/** An id, with one for the documentation. */
export function idField(description: string, example: string) {
  return z.string().meta({ description, example });
}
