import { z } from '@hono/zod-openapi';

/** Enough for each known value to be said many times; no list of values is longer. */
const MAX_CHOICES = 100;

/**
 * Several of the known values, separated by commas or repeated. Another value is refused by naming
 * the known ones.
 */
export function choicesParameter<const T extends string>(known: readonly T[], description: string) {
  const isKnown = (text: string): text is T => (known as readonly string[]).includes(text);
  return z
    .union([z.string().max(1_000), z.array(z.string().max(1_000)).max(MAX_CHOICES)])
    .transform((given, context) => {
      const values = [given].flat().flatMap((text) => text.split(','));
      const chosen = values.map((text) => text.trim()).filter((text) => text !== '');
      const unknown = chosen.find((text) => !isKnown(text));
      if (unknown === undefined) return [...new Set(chosen.filter(isKnown))];
      context.addIssue({
        code: 'custom',
        message: `does not know "${unknown.slice(0, 50)}"; it knows ${known.join(', ')}`,
      });
      return z.NEVER;
    })
    .transform((chosen) => (chosen.length === 0 ? undefined : chosen))
    .optional()
    .openapi({
      type: 'string',
      description: `${description} One or several, separated by commas: ${known.map((value) => `\`${value}\``).join(', ')}.`,
      example: known.slice(0, 2).join(','),
    });
}
