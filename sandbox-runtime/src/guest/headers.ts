import { applyFunction } from './intrinsics.ts';
import { pairIterators } from './pair-iterator.ts';
import { asInterface, requireArguments, toByteString } from './web-idl.ts';

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const LINE_BREAKS = /[\0\r\n]/;
const OUTER_SPACE = /^[\t\n\r ]+|[\t\n\r ]+$/g;

export type HeadersInput = GuestHeaders | Iterable<readonly [string, string]> | Record<string, unknown> | undefined;

const iterate = pairIterators<string>('Headers');

let freeze: (headers: GuestHeaders) => void;
let pairsOf: (headers: GuestHeaders) => [string, string][];

/**
 * `Headers` of the Fetch standard: names in lower case, several values of a name joined,
 * `set-cookie` kept apart.
 */
export class GuestHeaders {
  #pairs: [string, string][] = [];
  #immutable = false;
  /** Sorted and joined, until something changes: iterators look at it at each step. */
  #sorted: [string, string][] | undefined;

  constructor(init?: HeadersInput) {
    if (init === undefined) return;
    for (const [name, value] of readInit(init)) this.#append(name, value);
  }

  static {
    freeze = (headers) => {
      headers.#immutable = true;
    };
    pairsOf = (headers) => headers.#pairs.map(([name, value]) => [name, value]);
  }

  append(name: string, value: string): void {
    requireArguments(2, arguments.length, 'Headers.append');
    this.#append(name, value);
  }

  set(name: string, value: string): void {
    requireArguments(2, arguments.length, 'Headers.set');
    const key = checkName(name);
    const text = checkValue(key, value);
    const pairs = this.#change();
    const first = pairs.findIndex((pair) => pair[0] === key);
    if (first < 0) pairs.push([key, text]);
    else this.#pairs = pairs.filter((pair, index) => pair[0] !== key || index === first);
    const kept = this.#pairs.find((pair) => pair[0] === key);
    if (kept !== undefined) kept[1] = text;
  }

  get(name: string): string | null {
    requireArguments(1, arguments.length, 'Headers.get');
    const key = checkName(name);
    const values = this.#pairs.filter((pair) => pair[0] === key).map((pair) => pair[1]);
    return values.length === 0 ? null : values.join(', ');
  }

  getSetCookie(): string[] {
    return this.#pairs.filter((pair) => pair[0] === 'set-cookie').map((pair) => pair[1]);
  }

  has(name: string): boolean {
    requireArguments(1, arguments.length, 'Headers.has');
    const key = checkName(name);
    return this.#pairs.some((pair) => pair[0] === key);
  }

  delete(name: string): void {
    requireArguments(1, arguments.length, 'Headers.delete');
    const key = checkName(name);
    this.#pairs = this.#change().filter((pair) => pair[0] !== key);
  }

  forEach(callback: (value: string, name: string, headers: GuestHeaders) => void, thisArg?: unknown): void {
    if (typeof callback !== 'function') throw new TypeError('forEach takes a function');
    for (const [name, value] of this.entries()) applyFunction(callback, thisArg, [value, name, this]);
  }

  entries(): IterableIterator<[string, string]> {
    return iterate(() => this.#list(), 'entries');
  }

  keys(): IterableIterator<string> {
    return iterate(() => this.#list(), 'keys');
  }

  values(): IterableIterator<string> {
    return iterate(() => this.#list(), 'values');
  }

  declare [Symbol.iterator]: () => IterableIterator<[string, string]>;

  #append(name: unknown, value: unknown): void {
    const key = checkName(name);
    const text = checkValue(key, value);
    this.#change().push([key, text]);
  }

  #change(): [string, string][] {
    if (this.#immutable) throw new TypeError('These headers cannot be changed');
    this.#sorted = undefined;
    return this.#pairs;
  }

  #list(): [string, string][] {
    this.#sorted ??= sortAndJoin(this.#pairs);
    return this.#sorted;
  }
}

asInterface(GuestHeaders, 'Headers');
Object.defineProperty(GuestHeaders.prototype, Symbol.iterator, {
  value: GuestHeaders.prototype.entries,
  writable: true,
  configurable: true,
});

/** As they go over the wire, in the order they were given. */
export function headerPairs(headers: GuestHeaders): [string, string][] {
  return pairsOf(headers);
}

/** Headers of a network response are immutable. */
export function freezeHeaders(headers: GuestHeaders): void {
  freeze(headers);
}

function sortAndJoin(pairs: readonly [string, string][]): [string, string][] {
  const joined = new Map<string, string>();
  const list: [string, string][] = [];
  for (const [name, value] of pairs) {
    const before = joined.get(name);
    if (name === 'set-cookie') list.push([name, value]);
    else joined.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  list.push(...joined);
  return list.sort((first, second) => (first[0] < second[0] ? -1 : first[0] > second[0] ? 1 : 0));
}

function readInit(init: unknown): [unknown, unknown][] {
  if ((typeof init !== 'object' && typeof init !== 'function') || init === null)
    throw new TypeError('Headers takes an object or a list of pairs');
  const iterator = (init as Iterable<unknown>)[Symbol.iterator];
  return iterator === undefined || iterator === null
    ? readRecord(init)
    : [...(init as Iterable<unknown>)].map(readPair);
}

function readPair(pair: unknown): [unknown, unknown] {
  const items = typeof pair === 'object' && pair !== null ? [...(pair as Iterable<unknown>)] : [];
  if (items.length !== 2)
    throw new TypeError(`Headers constructor: expected name/value pair to be length 2, found ${items.length}.`);
  return [items[0], items[1]];
}

function readRecord(record: object): [unknown, unknown][] {
  const pairs: [string, string][] = [];
  for (const key of Reflect.ownKeys(record)) {
    if (Reflect.getOwnPropertyDescriptor(record, key)?.enumerable !== true) continue;
    const name = toByteString(key, 'A header name');
    pairs.push([name, toByteString((record as Record<string, unknown>)[name], `The value of header '${name}'`)]);
  }
  return pairs;
}

function checkName(name: unknown): string {
  const text = toByteString(name, 'A header name');
  if (!NAME.test(text)) throw new TypeError(`Headers.append: "${text.slice(0, 100)}" is an invalid header name.`);
  return text.toLowerCase();
}

function checkValue(name: string, value: unknown): string {
  const text = toByteString(value, `The value of header '${name}'`).replace(OUTER_SPACE, '');
  if (LINE_BREAKS.test(text))
    throw new TypeError(`Headers.append: "${text.slice(0, 100)}" is an invalid header value.`);
  return text;
}
