import { z } from '@hono/zod-openapi';
import { LIMITS } from '@headwater/shared';
import { parseJsonText } from './json-text.ts';
import { findJsonDefect } from './json-value.ts';
import { textParameter } from './schemas.ts';

/** The engine reports errors in filters. A zod record would lose a name such as `__proto__`. */
export const filterParameter = z
  .unknown()
  .superRefine((value, context) => {
    const defect = findJsonDefect(value, '', false);
    if (defect !== undefined) context.addIssue({ code: 'custom', message: defect.message, params: defect });
  })
  .optional()
  .openapi({
    type: ['object', 'null'],
    additionalProperties: true,
    description: `Only events whose data match; null: every event. At most ${LIMITS.maxFilterBytes} bytes: see docs/filters.md.`,
    example: { 'order.total': { $gte: 100 } },
  });

/** The same in a query string. */
export const filterTextParameter = textParameter('maxFilterBytes').optional().openapi({
  description: 'Only events whose data match, as JSON: see docs/filters.md.',
  example: '{"order.total":{"$gte":100}}',
});

/** Throws INVALID_REQUEST for text that is no JSON. */
export function filterOfText(text: string | undefined): unknown {
  return text === undefined || text === '' ? undefined : parseJsonText(text, 'filter');
}
