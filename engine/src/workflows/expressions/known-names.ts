const NAMES = `
  undefined NaN Infinity globalThis
  Array BigInt Boolean Date Function Intl JSON Map Math Number Object Promise
  Proxy Reflect RegExp Set String Symbol WeakMap WeakRef WeakSet Iterator
  Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError
  ArrayBuffer DataView Float32Array Float64Array Int8Array Int16Array Int32Array
  BigInt64Array BigUint64Array Uint8Array Uint8ClampedArray Uint16Array Uint32Array
  decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape
  isFinite isNaN parseFloat parseInt
  Blob Buffer TextDecoder TextEncoder URL URLSearchParams atob btoa crypto
  console structuredClone
`;

/**
 * Names that an expression may use besides `steps` and `env`: those of the language, and Web and
 * Node.js names that shape values. Names with effects (`fetch`, `process`, timers) are only for
 * steps.
 */
export const KNOWN_NAMES: ReadonlySet<string> = new Set(NAMES.split(/\s+/).filter((name) => name !== ''));
