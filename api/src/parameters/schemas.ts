import { z } from '@hono/zod-openapi';
import { hasLongHost } from '@headwater/engine';
import { LIMITS } from '@headwater/shared';
import { findJsonDefect, isStorableText, UNSTORABLE } from './json-value.ts';

/** Building blocks of every endpoint's parameters. They are strict: what comes in the query string is converted before. */

export function textParameter(maxChars: number, minChars = 0) {
  return (
    z
      .string()
      .min(minChars, minChars === 1 ? 'must not be empty' : undefined)
      // Nothing looks at a longer one: as a URL, 16 KB of Chinese letters take the thread 40 ms.
      .max(maxChars, { error: `is longer than ${maxChars} characters`, abort: true })
      .refine(isStorableText, UNSTORABLE)
  );
}

/** Text that may be left out; null, as answers show what is empty, is the empty text. */
export function clearableParameter(maxChars: number) {
  return textParameter(maxChars)
    .nullable()
    .transform((text) => text ?? '')
    .optional();
}

/** Of another resource. Whether it exists, and in this account, is the engine's to say. */
export function idParameter(description: string) {
  return textParameter(LIMITS.maxIdChars, 1).openapi({ description });
}

export function jsonObjectParameter() {
  return z.record(z.string(), z.unknown()).superRefine((value, context) => {
    const defect = findJsonDefect(value, '', true);
    if (defect === undefined) return;
    // As one: it is joined to what leads here, and may have millions of dots.
    context.addIssue({ code: 'custom', message: defect.message, path: [defect.path.slice(1)] });
  });
}

const HTTP_URL = /^https?:\/\/[^/?#\\]/i;

export function httpUrlParameter() {
  return (
    textParameter(LIMITS.maxUrlChars)
      // Such a one is not read: that takes milliseconds.
      .refine((text) => !hasLongHost(text), {
        message: `must not name a host of more than ${LIMITS.maxUrlHostChars} characters`,
        abort: true,
      })
      .refine(
        (text) => HTTP_URL.test(text) && !/\s/.test(text) && URL.canParse(text),
        'must be an http or https URL with a host',
      )
  );
}

export const pageParameters = {
  limit: z
    .int()
    .min(1)
    .max(LIMITS.maxPageSize)
    .default(LIMITS.defaultPageSize)
    .openapi({ description: 'How many at most; there are fewer where they are large. `end_cursor` leads on.' }),
  after: textParameter(LIMITS.maxCursorChars)
    .optional()
    .openapi({ description: 'A cursor (`page_info.end_cursor`): what follows it.' }),
  before: textParameter(LIMITS.maxCursorChars)
    .optional()
    .openapi({ description: 'A cursor (`page_info.start_cursor`): what precedes it.' }),
};

export const fieldParameters = {
  include: textParameter(LIMITS.maxFieldsChars)
    .optional()
    .openapi({ description: 'Comma-separated fields of `data` to keep; the others are left out.', example: 'id,name' }),
  exclude: textParameter(LIMITS.maxFieldsChars)
    .optional()
    .openapi({ description: 'Comma-separated fields of `data` to leave out.' }),
};

export function codeParameter() {
  return z
    .string()
    .min(1, 'must not be empty')
    .refine(isStorableText, UNSTORABLE)
    .refine(
      (code) => Buffer.byteLength(code) <= LIMITS.maxComponentCodeBytes,
      `is longer than ${LIMITS.maxComponentCodeBytes} bytes`,
    )
    .openapi({ description: 'The source text of an ES module whose default export is the component.' });
}
