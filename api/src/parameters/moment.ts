import { z } from '@hono/zod-openapi';

/** The end of the year 9999: later years have a sign, which Postgres does not read. */
const MAX_DATE_MS = 253_402_300_799_999;

const ISO_TIME = /^\d{4}-\d\d(-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?)?$/;

/** A time as people and programs write it; without a zone it is UTC. */
export function timeParameter(description: string) {
  return readTime()
    .transform((ms) => new Date(ms))
    .optional()
    .openapi({ type: 'string', description: `${description} ${FORMS}`, example: '2026-11-20T14:00Z' });
}

/** The same, in milliseconds. */
export function momentParameter(description: string) {
  return readTime()
    .optional()
    .openapi({ type: 'integer', description: `${description} ${FORMS}` });
}

const FORMS = 'Epoch milliseconds, or ISO 8601; without a zone it is UTC.';

function readTime() {
  return z.union([z.int(), z.string().max(40)]).transform((given, context) => {
    const ms = typeof given === 'number' ? given : msOf(given);
    if (ms >= 0 && ms <= MAX_DATE_MS) return ms;
    const message = 'must be a time: epoch milliseconds, or ISO 8601 such as 2026-11-20T14:00Z';
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

function msOf(text: string): number {
  if (/^\d{1,16}$/.test(text) && text.length !== 4) return Number(text);
  if (!ISO_TIME.test(text)) return Number.NaN;
  const hasZone = !text.includes('T') || /(Z|[+-]\d\d:?\d\d)$/.test(text);
  return Date.parse(hasZone ? text : `${text}Z`);
}

export function dateOf(ms: number | undefined): Date | undefined {
  return ms === undefined ? undefined : new Date(ms);
}
