import { applyFunction } from './intrinsics.ts';

const kindOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)
  ?.get as () => string | undefined;

/**
 * What may cross to the process: primitives and bytes. An object would be copied to its heap before
 * anything there can look at it, however much is in it; null stands for it, which nobody there
 * takes.
 */
export function crossing<T>(value: T): T | null {
  if (typeof value === 'function' || typeof value === 'symbol') return null;
  if (typeof value !== 'object' || value === null) return value;
  return applyFunction(kindOf, value, []) === 'Uint8Array' ? value : null;
}
