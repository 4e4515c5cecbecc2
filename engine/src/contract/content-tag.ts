import { createHash } from 'node:crypto';
import type { Condition } from './base.ts';
import { changedMeanwhile } from './check-revision.ts';

const TAG_CHARS = 22;

/** The tag of a state that has no revision of its own: the same for the same content. */
export function contentTag(...parts: readonly (string | number | null | undefined)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, TAG_CHARS);
}

/** `what`: `record ada`. `tag`: undefined where there is none. Throws PRECONDITION_FAILED. */
export function checkCondition(what: string, tag: string | undefined, condition: Condition | undefined): void {
  if (!isMet(tag, condition)) throw changedMeanwhile(what);
}

function isMet(tag: string | undefined, condition: Condition | undefined): boolean {
  if (condition === undefined) return true;
  if (condition === 'absent') return tag === undefined;
  if (condition === 'present') return tag !== undefined;
  return tag !== undefined && condition.includes(tag);
}
