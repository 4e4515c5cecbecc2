import { HeadwaterError } from '@headwater/shared';
import type { ExpectedRevisions } from './base.ts';

/** `what`: `source dc_…`. */
export function checkRevision(what: string, revision: number, expected: ExpectedRevisions): void {
  if (expected === undefined || expected.includes(revision)) return;
  throw changedMeanwhile(what);
}

export function changedMeanwhile(what: string): HeadwaterError {
  const message = `The ${what} was changed meanwhile; nothing was written. Look at it as it is now, and make the change again`;
  return new HeadwaterError('PRECONDITION_FAILED', message);
}
