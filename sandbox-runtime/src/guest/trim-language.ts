const NativeArrayBuffer = ArrayBuffer;
const construct = Reflect.construct as (target: unknown, args: unknown[], newTarget: unknown) => object;

/** Buffers of this kind get their memory from the system itself, past the limit of the isolate. */
const RESIZABLE_MEMBERS = ['resize', 'resizable', 'maxByteLength'] as const;

/**
 * Removes language features that a sandbox cannot limit. The rest looks like an engine of a few
 * years ago, for which code that detects features is prepared.
 */
export function trimLanguage(): void {
  replaceArrayBuffer();
  replaceFinalizationRegistry();
}

/**
 * `new ArrayBuffer(length, { maxByteLength })` makes a buffer of fixed length, as where buffers
 * cannot be resized.
 */
function replaceArrayBuffer(): void {
  const { prototype } = NativeArrayBuffer;
  const FixedArrayBuffer = function ArrayBuffer(length?: unknown): object {
    if (new.target === undefined) throw new TypeError("Constructor ArrayBuffer requires 'new'");
    return construct(NativeArrayBuffer, [length], new.target);
  };
  Object.defineProperty(FixedArrayBuffer, 'prototype', { value: prototype, writable: false });
  for (const key of ['isView', Symbol.species] as const)
    Object.defineProperty(
      FixedArrayBuffer,
      key,
      Object.getOwnPropertyDescriptor(NativeArrayBuffer, key) as PropertyDescriptor,
    );
  for (const name of RESIZABLE_MEMBERS) Reflect.deleteProperty(prototype, name);
  const hidden = { writable: true, configurable: true, enumerable: false };
  Object.defineProperty(prototype, 'constructor', { value: FixedArrayBuffer, ...hidden });
  Object.defineProperty(globalThis, 'ArrayBuffer', { value: FixedArrayBuffer, ...hidden });
}

/**
 * Its callbacks would run when no run does, or on the time of whichever is next. The language never
 * promises that they run.
 */
function replaceFinalizationRegistry(): void {
  class FinalizationRegistry {
    constructor(cleanup: unknown) {
      if (typeof cleanup !== 'function') throw new TypeError('FinalizationRegistry: cleanup must be callable');
    }
    register(): void {}
    unregister(): boolean {
      return false;
    }
    get [Symbol.toStringTag](): string {
      return 'FinalizationRegistry';
    }
  }
  Object.defineProperty(globalThis, 'FinalizationRegistry', {
    value: FinalizationRegistry,
    writable: true,
    configurable: true,
    enumerable: false,
  });
}
