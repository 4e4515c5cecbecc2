import { toText } from './intrinsics.ts';
import { invalidArgument, missingArguments } from './node/errors.ts';

/*
 * Conversions of WebIDL, as far as the classes here need them. They throw TypeError for a value
 * that cannot be converted.
 */

/** A string without lone surrogates. */
export function toUsv(value: unknown): string {
  if (typeof value === 'symbol') throw new TypeError('Cannot convert a Symbol value to a string');
  return toText(value).toWellFormed();
}

/** A string of bytes: no character above U+00FF. */
export function toByteString(value: unknown, what: string): string {
  if (typeof value === 'symbol') throw new TypeError(`${what} cannot be a symbol`);
  const text = toText(value);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0xff)
      throw new TypeError(
        `Cannot convert argument to a ByteString because the character at index ${i} has a value of ${code} which is greater than 255.`,
      );
  }
  return text;
}

/** Undefined and null are an empty dictionary; anything else that is no object is refused. */
export function toDictionary(
  value: unknown,
  refuse: (value: unknown) => Error = (given) => invalidArgument('options', 'of type object', given),
): Record<string, unknown> {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' && typeof value !== 'function') throw refuse(value);
  return value as Record<string, unknown>;
}

/** A whole number as `long long`: everything that is none is 0. */
export function toInteger(value: unknown): number {
  const number = Math.trunc(Number(value));
  return Number.isFinite(number) ? number : 0;
}

/** A whole number as `[Clamp] long long`: rounded, and halves to the even neighbour. */
export function toRounded(value: unknown): number {
  const number = Number(value);
  if (Number.isNaN(number)) return 0;
  const below = Math.floor(number);
  return number - below === 0.5 && below % 2 === 0 ? below : Math.round(number);
}

export function requireArguments(count: number, given: number, name: string): void {
  if (given < count)
    throw new TypeError(
      `${name}: ${count} argument${count === 1 ? '' : 's'} required, but ${given === 0 ? '' : 'only '}${given} found.`,
    );
}

/** As Node checks arguments whose names it reports. */
export function requireNamed(given: number, ...names: string[]): void {
  if (given < names.length) throw missingArguments(...names);
}

/**
 * Class members are not listed by `for in`; those of the platform are. Gives the class its name and
 * tag as well.
 */
export function asInterface(target: { prototype: object }, name: string): void {
  Object.defineProperty(target, 'name', { value: name, configurable: true });
  const { prototype } = target;
  for (const key of Object.getOwnPropertyNames(prototype)) {
    if (key !== 'constructor') Object.defineProperty(prototype, key, { enumerable: true });
  }
  Object.defineProperty(prototype, Symbol.toStringTag, { value: name, configurable: true });
}
