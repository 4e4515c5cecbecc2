import { applyFunction } from './intrinsics.ts';

export type ComponentFunction = (this: unknown, ...args: unknown[]) => unknown;

export type Member = [name: string, descriptor: PropertyDescriptor];

/** The members of a `methods` object, read once for all runs. A getter is not called. */
export function readMethods(methods: unknown): Member[] {
  if (typeof methods !== 'object' || methods === null) return [];
  return Object.entries(Object.getOwnPropertyDescriptors(methods)).filter(([, { enumerable }]) => enumerable === true);
}

/**
 * Gives `target` its methods: functions and accessors with `target` as their `this`, anything else
 * as it is. Anew for each run, so that nothing a method keeps on `this` survives the run.
 */
export function bindMembers(target: Record<string, unknown>, members: readonly Member[]): void {
  for (const [name, { get, set, value }] of members) {
    if (get !== undefined || set !== undefined) Object.defineProperty(target, name, boundAccessor(target, get, set));
    else target[name] = typeof value === 'function' ? boundMethod(target, value as ComponentFunction) : value;
  }
}

function boundMethod(target: object, method: ComponentFunction): ComponentFunction {
  return (...args) => applyFunction(method, target, args);
}

function boundAccessor(
  target: object,
  get: (() => unknown) | undefined,
  set: ((value: unknown) => void) | undefined,
): PropertyDescriptor {
  return {
    enumerable: true,
    configurable: true,
    ...(get && { get: () => applyFunction(get, target, []) }),
    ...(set && { set: (value: unknown) => applyFunction(set, target, [value]) }),
  };
}
