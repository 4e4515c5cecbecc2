import { z } from 'zod';
import { type ExceededLimit, platformLimit, type PlatformLimitName } from '../exceeded-limit.ts';
import { LIMITS } from '../limits/platform-limits.ts';
import { isStorableText, UNSTORABLE } from '../storable-text.ts';

/** `max`: the name of a limit, or the most characters that such a text can have. */
export function textParameter(max: PlatformLimitName | number, minChars = 0) {
  const text = z.string().min(minChars, minChars === 1 ? 'must not be empty' : undefined);
  if (typeof max === 'number') {
    return text.max(max, { error: `is longer than ${max} characters`, abort: true }).refine(isStorableText, UNSTORABLE);
  }
  const unit = max.endsWith('Bytes') ? 'bytes' : 'characters';
  return text
    .superRefine((given, context) => {
      const limit = platformLimit(max, unit === 'bytes' ? Buffer.byteLength(given) : given.length);
      if (limit.used > limit.value) exceed(context, `is longer than ${limit.value} ${unit}`, limit);
    })
    .refine(isStorableText, UNSTORABLE)
    .meta({ maxLength: LIMITS[max] });
}

/**
 * Stops all further checks: parsing 16 KB of Chinese letters as a URL blocks the thread for 40 ms.
 */
export function exceed(context: z.RefinementCtx, message: string, limit: ExceededLimit): void {
  context.addIssue({ code: 'custom', message, params: { limit }, continue: false });
}
