/**
 * Resolves `exports` or `imports` of a package.json. Rules:
 * https://nodejs.org/api/esm.html#resolution-algorithm-specification (PACKAGE_EXPORTS_RESOLVE and
 * the steps it calls).
 */
export function resolveExports(exports: unknown, subpath: string, conditions: ReadonlySet<string>): string | undefined {
  const isMap =
    typeof exports === 'object' && exports !== null && Object.keys(exports).some((key) => key.startsWith('.'));
  const map = isMap ? (exports as Record<string, unknown>) : { '.': exports };
  return resolveEntry(map, subpath, conditions);
}

/** As `resolveExports`, for the names with `#` that a package gives to its own. */
export function resolveImports(imports: unknown, name: string, conditions: ReadonlySet<string>): string | undefined {
  if (typeof imports !== 'object' || imports === null) return undefined;
  return resolveEntry(imports as Record<string, unknown>, name, conditions);
}

function resolveEntry(map: Record<string, unknown>, key: string, conditions: ReadonlySet<string>): string | undefined {
  if (Object.hasOwn(map, key) && !key.includes('*')) return resolveTarget(map[key], '', conditions);
  let best: { pattern: string; filling: string } | undefined;
  for (const pattern of Object.keys(map)) {
    const filling = fillingOf(pattern, key);
    // The longest beginning wins, as the more special one.
    if (filling !== undefined && (best === undefined || pattern.indexOf('*') > best.pattern.indexOf('*')))
      best = { pattern, filling };
  }
  return best === undefined ? undefined : resolveTarget(map[best.pattern], best.filling, conditions);
}

/**
 * Text for `*` when `pattern` matches `key`. An old pattern with a slash at its end means a folder.
 */
function fillingOf(pattern: string, key: string): string | undefined {
  if (pattern.endsWith('/') && key.startsWith(pattern)) return key.slice(pattern.length);
  const star = pattern.indexOf('*');
  if (star < 0) return undefined;
  const [before, after] = [pattern.slice(0, star), pattern.slice(star + 1)];
  const fits = key.length >= pattern.length && key.startsWith(before) && key.endsWith(after);
  return fits ? key.slice(before.length, key.length - after.length) : undefined;
}

function resolveTarget(target: unknown, filling: string, conditions: ReadonlySet<string>): string | undefined {
  if (typeof target === 'string') return target.endsWith('/') ? target + filling : target.replaceAll('*', filling);
  if (Array.isArray(target)) {
    for (const one of target) {
      const found = resolveTarget(one, filling, conditions);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (typeof target !== 'object' || target === null) return undefined;
  for (const [condition, inner] of Object.entries(target)) {
    if (!conditions.has(condition)) continue;
    const found = resolveTarget(inner, filling, conditions);
    if (found !== undefined) return found;
  }
  return undefined;
}
