import { z } from '@hono/zod-openapi';
import { longHostOf } from '@headwater/engine';
import { isStorableText, LIMITS, platformLimit, type PlatformLimitName, UNSTORABLE } from '@headwater/shared';
import { exceed, textParameter } from '@headwater/shared/contract';
import { findJsonDefect } from './json-value.ts';

export { textParameter } from '@headwater/shared/contract';

/**
 * Building blocks of every endpoint's parameters. They are strict: what comes in the query string
 * is converted before.
 */

/** A whole number from 1 on. */
export function countParameter(max: PlatformLimitName) {
  return z
    .int()
    .min(1)
    .superRefine((given, context) => {
      const limit = platformLimit(max, given);
      if (limit.used > limit.value) exceed(context, `must be at most ${limit.value}`, limit);
    })
    .openapi({ maximum: LIMITS[max] });
}

/** Optional text. Null means empty text, because answers show empty text as null. */
export function clearableParameter(maxChars: PlatformLimitName) {
  return textParameter(maxChars)
    .nullable()
    .transform((text) => text ?? '')
    .optional();
}

/** Id of another resource. The engine checks that it exists in this account. */
export function idParameter(description: string) {
  return textParameter('maxIdChars', 1).openapi({ description });
}

export function jsonObjectParameter() {
  return z.record(z.string(), z.unknown()).superRefine((value, context) => {
    const defect = findJsonDefect(value, '', true);
    if (defect === undefined) return;
    // One path element: it is joined to the outer path and may have millions of dots.
    const { message, path, limit } = defect;
    context.addIssue({ code: 'custom', message, path: [path.slice(1)], params: { limit } });
  });
}

const HTTP_URL = /^https?:\/\/[^/?#\\]/i;

export function httpUrlParameter() {
  return (
    textParameter('maxUrlChars')
      // Such a one is not read: that takes milliseconds.
      .superRefine((text, context) => {
        const limit = longHostOf(text);
        if (limit !== undefined) exceed(context, `must not name a host of more than ${limit.value} characters`, limit);
      })
      .refine(
        (text) => HTTP_URL.test(text) && !/\s/.test(text) && URL.canParse(text),
        'must be an http or https URL with a host',
      )
  );
}

export const pageParameters = {
  limit: countParameter('maxPageSize')
    .default(LIMITS.defaultPageSize)
    .openapi({ description: 'How many at most; there are fewer where they are large. `end_cursor` leads on.' }),
  after: textParameter('maxCursorChars')
    .optional()
    .openapi({ description: 'A cursor (`page_info.end_cursor`): what follows it.' }),
  before: textParameter('maxCursorChars')
    .optional()
    .openapi({ description: 'A cursor (`page_info.start_cursor`): what precedes it.' }),
};

/** Short lists are answered whole by default, up to the largest page. */
export const shortListParameters = {
  ...pageParameters,
  limit: countParameter('maxPageSize').default(LIMITS.maxPageSize).describe('How many at most.'),
};

export const fieldParameters = {
  include: textParameter('maxFieldsChars')
    .optional()
    .openapi({ description: 'Comma-separated fields of `data` to keep; the others are left out.', example: 'id,name' }),
  exclude: textParameter('maxFieldsChars')
    .optional()
    .openapi({ description: 'Comma-separated fields of `data` to leave out.' }),
};

export function preflightParameter() {
  return z.enum(['allow', 'run']).openapi({
    description:
      'What becomes of a CORS preflight (`OPTIONS` with `access-control-request-method`) to its endpoints. `allow`: it is answered, every page may call them, and nothing runs. `run`: it is a request like any other, for the code to answer. Default: `allow`.',
  });
}

export function durabilityParameter() {
  return z.enum(['stored', 'none']).openapi({
    description:
      'What of a request to its endpoints survives a crash of the node. `stored`: the request, which is stored before its run. `none`: only what its run has committed; its client sees a reset or `503` instead of an answer. Faster. Default: `stored`.',
  });
}

export function codeParameter() {
  return z
    .string()
    .min(1, 'must not be empty')
    .superRefine((code, context) => {
      const limit = platformLimit('maxComponentCodeBytes', Buffer.byteLength(code));
      if (limit.used > limit.value) exceed(context, `is longer than ${limit.value} bytes`, limit);
    })
    .refine(isStorableText, UNSTORABLE)
    .openapi({ description: 'The source text of an ES module whose default export is the component.' });
}
