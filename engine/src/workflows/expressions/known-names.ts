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
 * What an expression may name besides `steps` and `env`: of the language, and what isolates have of
 * the Web and of Node that helps to shape a value. What acts on something (`fetch`, `process`,
 * timers) is for steps.
 */
export const KNOWN_NAMES: ReadonlySet<string> = new Set(NAMES.split(/\s+/).filter((name) => name !== ''));
