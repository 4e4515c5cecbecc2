import type { ExpectedRevisions } from '@headwater/engine';
import { HeadwaterError } from '@headwater/shared';

const TAGS = /^\s*(W\/)?"[^"]*"\s*(,\s*(W\/)?"[^"]*"\s*)*$/;

export const etagOf = (revision: number) => `"${revision}"`;

/**
 * The revisions that `if-match` names. Undefined where it is absent or `*`, which fits any
 * resource. A weak tag, or one that was not made here, fits none (RFC 9110, 13.1.1). Throws
 * INVALID_REQUEST for text that is no list of tags.
 */
export function expectedRevisions(header: string | undefined): ExpectedRevisions {
  if (header === undefined || header.trim() === '*') return undefined;
  if (header.length > MAX_CHARS || !TAGS.test(header)) {
    const message = 'is not a list of tags in quotes, such as "3"';
    throw new HeadwaterError('INVALID_REQUEST', `if-match ${message}`, { fields: [{ path: 'if-match', message }] });
  }
  return [...header.matchAll(/(?:^|[,\s])"(\d{1,9})"/g)].map(([, revision]) => Number(revision));
}

const MAX_CHARS = 1_000;
