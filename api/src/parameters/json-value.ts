import { type FieldError, isStorableText, LIMITS, platformLimit, UNSTORABLE } from '@headwater/shared';

interface Visit {
  value: unknown;
  path: string;
  depth: number;
}

/**
 * First reason why a JSON value cannot be stored. Deep nesting overflows the stack of a serializer.
 * With `storable`, also NUL characters and lone surrogates, which Postgres refuses in jsonb. Not
 * recursive, because the value may be deep.
 */
export function findJsonDefect(value: unknown, path: string, storable: boolean): FieldError | undefined {
  return isFit(value, storable) ? undefined : locateDefect(value, path, storable);
}

/** Checks without building paths, so that large values of a hundred thousand members stay cheap. */
function isFit(root: unknown, storable: boolean): boolean {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > LIMITS.maxJsonDepth) return false;
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value === 'object' && value !== null) {
        if (storable && !Array.isArray(value) && !Object.keys(value).every(isStorableText)) return false;
        for (const child of Object.values(value)) next.push(child);
      } else if (storable && typeof value === 'string' && !isStorableText(value)) return false;
    }
    level = next;
  }
  return true;
}

function locateDefect(value: unknown, path: string, storable: boolean): FieldError | undefined {
  const stack: Visit[] = [{ value, path, depth: 0 }];
  for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
    if (visit.depth > LIMITS.maxJsonDepth) {
      const limit = platformLimit('maxJsonDepth', visit.depth);
      return { path, message: `is nested deeper than ${limit.value} levels`, limit };
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
