/**
 * What the guest's own code uses of the language where guest code could otherwise listen in or break a run of the same
 * component by patching a prototype. Taken while the snapshot is made, before any component exists.
 */
export const stringifyJson = JSON.stringify;
export const parseJson = JSON.parse as (text: string) => unknown;
export const applyFunction = Reflect.apply;
export const now = Date.now;
/** What the web's and Node's interfaces do with an argument that should be text: any value is taken. */
export const toText: (value: unknown) => string = String;

const promiseThen = Promise.prototype.then;
const promiseResolve = Promise.resolve.bind(Promise);

/** `Promise.resolve(value).then(…)`, whatever happened to Promise.prototype since. */
export function whenSettled(value: unknown, done: (value: unknown) => void, failed: (reason: unknown) => void): void {
  void applyFunction(promiseThen, promiseResolve(value), [done, failed]);
}

/** Defines a global as the platform does: not listed, but replaceable. */
export function defineGlobal(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}
