import { type FieldError, LIMITS } from '@headwater/shared';

interface Visit {
  value: unknown;
  path: string;
  depth: number;
}

/**
 * What makes a JSON value unfit to be kept: nesting that overflows the stack of whoever serialises it, and (with
 * `storable`) NUL characters and lone surrogates, which Postgres refuses in jsonb. Walks without recursion, for the same
 * reason; reports the first finding.
 */
export function findJsonDefect(value: unknown, path: string, storable: boolean): FieldError | undefined {
  const stack: Visit[] = [{ value, path, depth: 0 }];
  for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
    if (visit.depth > LIMITS.maxJsonDepth) {
      return { path, message: `is nested deeper than ${LIMITS.maxJsonDepth} levels` };
    }
    if (storable && typeof visit.value === 'string' && !isStorableText(visit.value)) {
      return { path: visit.path, message: UNSTORABLE };
    }
    if (typeof visit.value !== 'object' || visit.value === null) continue;
    for (const [key, child] of Object.entries(visit.value)) {
      if (storable && !isStorableText(key)) return { path: visit.path, message: UNSTORABLE };
      stack.push({ value: child, path: `${visit.path}.${key}`, depth: visit.depth + 1 });
    }
  }
  return undefined;
}

export const UNSTORABLE = 'contains a NUL character or half of a surrogate pair, which cannot be stored';

export function isStorableText(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}
