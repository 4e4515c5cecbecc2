import type { Condition, ExpectedRevisions } from '@headwater/engine';
import { HeadwaterError } from '@headwater/shared';

const TAGS = /^\s*(W\/)?"[^"]*"\s*(,\s*(W\/)?"[^"]*"\s*)*$/;

/** A number where the resource counts its revisions, else a tag of its content. */
export const etagOf = (revision: number | string) => `"${revision}"`;

/**
 * The condition of a change. `if-match` names the tags that the resource may have, or `*` for any;
 * a weak tag, or one that was not made here, fits none (RFC 9110, 13.1.1). `if-none-match: *` asks
 * that there is none yet. Throws INVALID_REQUEST for text that is neither.
 */
export function conditionOf(ifMatch: string | undefined, ifNoneMatch: string | undefined): Condition | undefined {
  if (ifMatch !== undefined) return ifMatch.trim() === '*' ? 'present' : readTags(ifMatch);
  if (ifNoneMatch === undefined) return undefined;
  if (ifNoneMatch.trim() === '*') return 'absent';
  throw invalid('if-none-match', 'accepts only *, for a resource that must not exist yet');
}

function readTags(header: string): string[] {
  if (header.length > MAX_CHARS || !TAGS.test(header))
    throw invalid('if-match', 'is not a list of tags in quotes, such as "3"');
  return [...header.matchAll(/(W\/)?"([^"]*)"/g)].flatMap(([, weak, tag = '']) => (weak === undefined ? [tag] : []));
}

/** The same for a resource that counts its revisions, and that is there whenever it is changed. */
export function expectedRevisions(condition: Condition | undefined): ExpectedRevisions {
  if (condition === undefined || condition === 'present') return undefined;
  if (condition === 'absent') return [];
  return condition.filter((tag) => /^\d{1,9}$/.test(tag)).map(Number);
}

function invalid(path: string, message: string): HeadwaterError {
  return new HeadwaterError('INVALID_REQUEST', `${path} ${message}`, { fields: [{ path, message }] });
}

const MAX_CHARS = 1_000;
