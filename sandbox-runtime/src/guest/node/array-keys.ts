import { isArray, ownKeys } from '../intrinsics.ts';

/**
 * V8 lists names only together with a string of every index. A longer array or view is shown
 * without its names, and its holes are looked over one by one no further.
 */
const MAX_LISTED = 100_000;
/** Filter of `getOwnNonIndexProperties` in Node; its other one is for hidden members too. */
const ONLY_ENUMERABLE = 2;
const MAX_INDEX = 2 ** 32 - 2;
const toNumber = Number;
const { getOwnPropertyDescriptor, getOwnPropertyNames, getOwnPropertySymbols, hasOwn } = Object;

/** Names and symbols of an array or a view that are no indexes, as Node lists them. */
export function listNamedKeys(value: ArrayLike<unknown>, filter = ONLY_ENUMERABLE): (string | symbol)[] {
  const isAll = filter !== ONLY_ENUMERABLE;
  const named: (string | symbol)[] = [];
  if (value.length > MAX_LISTED) {
    if (isAll && isArray(value)) named[0] = 'length';
  } else {
    const names = isAll ? getOwnPropertyNames(value) : ownKeys(value);
    for (let at = 0; at < names.length; at += 1) {
      const name = names[at] as string;
      if (!isIndex(name)) named[named.length] = name;
    }
  }
  const symbols = getOwnPropertySymbols(value);
  for (let at = 0; at < symbols.length; at += 1) {
    const symbol = symbols[at] as symbol;
    if (isAll || getOwnPropertyDescriptor(value, symbol)?.enumerable === true) named[named.length] = symbol;
  }
  return named;
}

/**
 * `Object.keys` of an array with holes, as far as an inspection needs it: `shown` of them, and at
 * most `max` more.
 */
export function listShownKeys(value: ArrayLike<unknown>, shown: number, max: number): string[] {
  const { length } = value;
  if (length <= MAX_LISTED) return ownKeys(value);
  const keys: string[] = [];
  for (let index = 0; index < length && keys.length < shown + max; index += 1) {
    // Nearly empty, or nearly all of it is to be shown: V8 finds the elements faster.
    if (index === MAX_LISTED) return ownKeys(value);
    if (hasOwn(value, index)) keys[keys.length] = `${index}`;
  }
  return keys;
}

function isIndex(name: string): boolean {
  const index = toNumber(name);
  return index >= 0 && index <= MAX_INDEX && `${index >>> 0}` === name;
}
