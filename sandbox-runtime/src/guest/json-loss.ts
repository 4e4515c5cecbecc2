import { applyFunction, isArray, ownKeys } from './intrinsics.ts';

/** As in intrinsics.ts. */
const descriptorOf = Object.getOwnPropertyDescriptor;

/** So many members are looked at, and so many losses are told in a run. */
const MAX_MEMBERS = 100;
const MAX_TOLD = 5;

const INSTEAD: Readonly<Record<string, string>> = {
  Error: ': give its message',
  Iterator: ': spread it into a list',
  Map: ': give Object.fromEntries of it',
  Promise: ': await it',
  RegExp: ': give its source',
  Set: ': spread it into a list',
};

/** Warns where JSON has nothing of a value; `what` begins the warning. */
export type TellLoss = (what: string, value: unknown) => void;

/**
 * `JSON.stringify` makes `{}` of a Map, a Promise or an Error. Such a value is sent all the same,
 * as in any program, and the log says so. Made once a run.
 */
export function makeTellLoss(warn: (message: string) => void): TellLoss {
  let told = 0;
  return (what, value) => {
    if (told >= MAX_TOLD || typeof value !== 'object' || value === null) return;
    const loss = readLoss(value);
    if (loss === undefined) return;
    told += 1;
    warn(`${what}${loss}`);
  };
}

function readLoss(value: object): string | undefined {
  try {
    return lossOf(value);
  } catch {
    // A getter or a proxy of the component threw: it has its JSON all the same.
    return undefined;
  }
}

function lossOf(value: object): string | undefined {
  const name = withoutJson(value);
  if (name !== undefined) return sentence('', name);
  const keys = isArray(value) ? (value as unknown as readonly unknown[]) : ownKeys(value);
  for (let index = 0; index < keys.length && index < MAX_MEMBERS; index += 1) {
    const key = (keys as unknown) === value ? `${index}` : (keys[index] as string);
    const member = descriptorOf(value, key)?.value as unknown;
    const inner = withoutJson(member);
    if (inner !== undefined) return sentence(`.${key}`, inner);
  }
  return undefined;
}

function sentence(path: string, name: string): string {
  return `${path} is ${/^[AEIOU]/.test(name) ? 'an' : 'a'} ${name}, of which JSON has nothing${INSTEAD[name] ?? ''}`;
}

const { isPrototypeOf } = Object.prototype;
/** Prototype of generators, and of the iterators of Map and Set. */
const IteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf([].values())) as object;

const WITHOUT_JSON = [
  'Map',
  'Set',
  'WeakMap',
  'WeakSet',
  'Promise',
  'Response',
  'Request',
  'Headers',
  'WritableStream',
  'TransformStream',
  'RegExp',
];

/** Name of a type that JSON would turn into an empty value; undefined for any other value. */
export function withoutJson(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (value instanceof Error && typeof (value as { toJSON?: unknown }).toJSON !== 'function') return 'Error';
  if (applyFunction(isPrototypeOf, IteratorPrototype, [value])) return 'Iterator';
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return undefined;
  // A stream of Node that cannot be read, or one of old.
  if (typeof (value as { pipe?: unknown }).pipe === 'function') return 'stream';
  const global = globalThis as unknown as Record<string, unknown>;
  for (let index = 0; index < WITHOUT_JSON.length; index += 1) {
    const name = WITHOUT_JSON[index] as string;
    const Class = global[name];
    if (typeof Class === 'function' && value instanceof (Class as new () => object)) return name;
  }
  return undefined;
}
