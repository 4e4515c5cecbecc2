/**
 * Built-ins that the guest's own code uses. Component code could patch a prototype to spy on other
 * runs, or to break them. So they are captured for the snapshot, before any component exists.
 */
export const stringifyJson = JSON.stringify;
export const parseJson = JSON.parse as (text: string) => unknown;
export const applyFunction = Reflect.apply;
export const now = Date.now;
const defineProperty: (target: object, name: string, descriptor: object) => object = Object.defineProperty;

/** `list.push(item)`, safe from setters that a component puts on Array.prototype. */
export function append<Item>(list: Item[], item: Item): void {
  const shown = { writable: true, enumerable: true, configurable: true };
  defineProperty(list, `${list.length}`, { __proto__: null, value: item, ...shown });
}

export const ownKeys: (target: object) => string[] = Object.keys;
export const isArray: (value: unknown) => boolean = Array.isArray;
/**
 * JSON of the guest's own small structures. A `toJSON` that guest code puts on Object.prototype or
 * Array.prototype would be called for them too, and what crosses the bridge would be its choice.
 */
export function stringifyOwn(value: object): string {
  return stringifyJson(withoutToJson(value));
}

function withoutToJson(value: object): object {
  defineProperty(value, 'toJSON', { __proto__: null, value: undefined });
  for (const key of ownKeys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (typeof member === 'object' && member !== null) withoutToJson(member);
  }
  return value;
}

const sliceString = String.prototype.slice;

/** `text.slice(from, to)`, safe from changes to String.prototype. */
export function sliceText(text: string, from: number, to?: number): string {
  return applyFunction(sliceString, text, [from, to]);
}

/** Converts an argument to text, as web and Node interfaces do: they accept any value. */
export const toText: (value: unknown) => string = String;

const promiseThen = Promise.prototype.then;
const promiseResolve = Promise.resolve.bind(Promise);

/** `Promise.resolve(value).then(…)`, safe from changes to Promise.prototype. */
export function whenSettled(value: unknown, done: (value: unknown) => void, failed: (reason: unknown) => void): void {
  void applyFunction(promiseThen, promiseResolve(value), [done, failed]);
}

/** Defines a global as the platform does: not listed, but replaceable. */
export function defineGlobal(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}
