import { type ExceededLimit, HeadwaterError } from '@headwater/shared';

/** CONFLICT: there is no room for it. */
export function overLimit(limit: ExceededLimit): HeadwaterError {
  const message = `The limit ${limit.name} is ${limit.value}; this would make it ${limit.used}`;
  return new HeadwaterError('CONFLICT', message, { limit });
}
