import { applyFunction } from './intrinsics.ts';

const kindOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)
  ?.get as () => string | undefined;

/**
 * Primitives and bytes cross to the process. Another value becomes null, which the process rejects:
 * a copy of an object could fill the process's heap before any check.
 */
export function crossing<T>(value: T): T | null {
  if (typeof value === 'function' || typeof value === 'symbol') return null;
  if (typeof value !== 'object' || value === null) return value;
  return applyFunction(kindOf, value, []) === 'Uint8Array' ? value : null;
}
