/** Pairs that are being compared further out: a cycle equals a cycle of the same shape. */
type Seen = [first: object, second: object][];

/**
 * Equality as `util.isDeepStrictEqual` and `assert` mean it; not strict, primitives are compared
 * with `==`.
 */
export function isDeepEqual(first: unknown, second: unknown, strict = true): boolean {
  return equal(first, second, strict, []);
}

function equal(first: unknown, second: unknown, strict: boolean, seen: Seen): boolean {
  if (Object.is(first, second)) return true;
  if (typeof first !== 'object' || typeof second !== 'object' || first === null || second === null) {
    // oxlint-disable-next-line eqeqeq -- the loose mode of Node's assert is defined by it
    return !strict && typeof first !== 'object' && typeof second !== 'object' && first == second;
  }
  if (tagOf(first) !== tagOf(second)) return false;
  if (strict && Object.getPrototypeOf(first) !== Object.getPrototypeOf(second)) return false;
  if (seen.some(([a, b]) => a === first && b === second)) return true;
  seen.push([first, second]);
  const same = equalContent(first, second, strict, seen);
  seen.pop();
  return same;
}

function equalContent(first: object, second: object, strict: boolean, seen: Seen): boolean {
  if (first instanceof Date) {
    if (!Object.is(first.getTime(), (second as Date).getTime())) return false;
  } else if (first instanceof RegExp) {
    const other = second as RegExp;
    if (first.source !== other.source || first.flags !== other.flags || first.lastIndex !== other.lastIndex)
      return false;
  } else if (first instanceof Error) {
    const other = second as Error;
    if (first.message !== other.message || first.name !== other.name) return false;
    if (!equal(first.cause, other.cause, strict, seen)) return false;
  } else if (first instanceof Map) {
    if (!equalMaps(first, second as Map<unknown, unknown>, strict, seen)) return false;
  } else if (first instanceof Set) {
    if (!equalSets(first, second as Set<unknown>, strict, seen)) return false;
  } else if (ArrayBuffer.isView(first)) {
    return equalViews(first, second as ArrayBufferView);
  } else if (first instanceof ArrayBuffer) {
    return equalViews(new Uint8Array(first), new Uint8Array(second as ArrayBuffer));
  } else if (isBoxed(first) && !Object.is(first.valueOf(), second.valueOf())) return false;
  if (Array.isArray(first) && first.length !== (second as unknown[]).length) return false;
  return equalMembers(first, second, strict, seen);
}

function equalMembers(first: object, second: object, strict: boolean, seen: Seen): boolean {
  const keys = keysOf(first, strict);
  if (keys.length !== keysOf(second, strict).length) return false;
  return keys.every(
    (key) =>
      Object.prototype.propertyIsEnumerable.call(second, key) &&
      equal(Reflect.get(first, key), Reflect.get(second, key), strict, seen),
  );
}

function keysOf(value: object, strict: boolean): (string | symbol)[] {
  const keys: (string | symbol)[] = Object.keys(value);
  if (!strict) return keys;
  const symbols = Object.getOwnPropertySymbols(value);
  return [...keys, ...symbols.filter((key) => Object.prototype.propertyIsEnumerable.call(value, key))];
}

function equalMaps(first: Map<unknown, unknown>, second: Map<unknown, unknown>, strict: boolean, seen: Seen): boolean {
  if (first.size !== second.size) return false;
  const rest = new Set(second.keys());
  for (const [key, value] of first) {
    const found = second.has(key) ? key : [...rest].find((candidate) => equal(key, candidate, strict, seen));
    if (found === undefined && !second.has(key)) return false;
    if (!rest.has(found) || !equal(value, second.get(found), strict, seen)) return false;
    rest.delete(found);
  }
  return true;
}

function equalSets(first: Set<unknown>, second: Set<unknown>, strict: boolean, seen: Seen): boolean {
  if (first.size !== second.size) return false;
  const rest = new Set(second);
  for (const value of first) {
    if (rest.delete(value)) continue;
    const found = [...rest].find((candidate) => typeof value === 'object' && equal(value, candidate, strict, seen));
    if (found === undefined) return false;
    rest.delete(found);
  }
  return true;
}

function equalViews(first: ArrayBufferView, second: ArrayBufferView): boolean {
  if (first.byteLength !== second.byteLength) return false;
  const [a, b] = [first, second].map((view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  return (a as Uint8Array).every((byte, index) => byte === (b as Uint8Array)[index]);
}

function isBoxed(value: object): boolean {
  return ['[object Number]', '[object String]', '[object Boolean]'].includes(tagOf(value));
}

function tagOf(value: object): string {
  return Object.prototype.toString.call(value);
}
