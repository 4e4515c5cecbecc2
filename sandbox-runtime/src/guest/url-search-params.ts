import { theBridge } from './bridge-slot.ts';
import { applyFunction } from './intrinsics.ts';
import { codedError, requireFunction } from './node/errors.ts';
import { pairIterators } from './pair-iterator.ts';
import { decodeUtf8, encodeUtf8 } from './utf8.ts';
import { asInterface, requireNamed, toUsv } from './web-idl.ts';

type Pair = [string, string];

const iterate = pairIterators<string>('URLSearchParams');

let connect: (params: GuestUrlSearchParams, changed: (query: string) => void) => void;
let replace: (params: GuestUrlSearchParams, query: string) => void;

/** `URLSearchParams` of the URL standard. */
export class GuestUrlSearchParams {
  #pairs: Pair[] = [];
  /** Tells the URL that these are the parameters of. */
  #changed: (query: string) => void = () => undefined;

  constructor(init: unknown = '') {
    this.#pairs = readInit(init);
  }

  static {
    connect = (params, changed) => {
      params.#changed = changed;
    };
    replace = (params, query) => {
      params.#pairs = parseQuery(query);
    };
  }

  get size(): number {
    return this.#pairs.length;
  }

  append(name: string, value: string): void {
    requireNamed(arguments.length, 'name', 'value');
    this.#pairs.push([toUsv(name), toUsv(value)]);
    this.#tell();
  }

  delete(name: string, value?: string): void {
    requireNamed(arguments.length, 'name');
    const matches = matcher(name, value);
    this.#pairs = this.#pairs.filter((pair) => !matches(pair));
    this.#tell();
  }

  get(name: string): string | null {
    requireNamed(arguments.length, 'name');
    return this.#pairs.find(matcher(name))?.[1] ?? null;
  }

  getAll(name: string): string[] {
    requireNamed(arguments.length, 'name');
    return this.#pairs.filter(matcher(name)).map((pair) => pair[1]);
  }

  has(name: string, value?: string): boolean {
    requireNamed(arguments.length, 'name');
    return this.#pairs.some(matcher(name, value));
  }

  set(name: string, value: string): void {
    requireNamed(arguments.length, 'name', 'value');
    const matches = matcher(name);
    const text = toUsv(value);
    const at = this.#pairs.findIndex(matches);
    if (at < 0) this.#pairs.push([toUsv(name), text]);
    else {
      this.#pairs = this.#pairs.filter((pair, index) => index <= at || !matches(pair));
      this.#pairs[at] = [toUsv(name), text];
    }
    this.#tell();
  }

  sort(): void {
    // By UTF-16 units, which is what comparing strings does; pairs of one name stay in their order.
    this.#pairs.sort((first, second) => (first[0] < second[0] ? -1 : first[0] > second[0] ? 1 : 0));
    this.#tell();
  }

  forEach(callback: (value: string, name: string, params: GuestUrlSearchParams) => void, thisArg?: unknown): void {
    requireFunction('callback', callback);
    for (const [name, value] of this.entries()) applyFunction(callback, thisArg, [value, name, this]);
  }

  entries(): IterableIterator<Pair> {
    return iterate(() => this.#pairs, 'entries');
  }

  keys(): IterableIterator<string> {
    return iterate(() => this.#pairs, 'keys');
  }

  values(): IterableIterator<string> {
    return iterate(() => this.#pairs, 'values');
  }

  toString(): string {
    return this.#pairs.map(([name, value]) => `${escape(name)}=${escape(value)}`).join('&');
  }

  declare [Symbol.iterator]: () => IterableIterator<Pair>;

  #tell(): void {
    this.#changed(this.toString());
  }
}
asInterface(GuestUrlSearchParams, 'URLSearchParams');
Object.defineProperty(GuestUrlSearchParams.prototype, Symbol.iterator, {
  value: GuestUrlSearchParams.prototype.entries,
  writable: true,
  configurable: true,
});

/** The parameters of a URL: `changed` is told the query whenever they change. */
export function makeSearchParams(query: string, changed: (query: string) => void): GuestUrlSearchParams {
  const params = new GuestUrlSearchParams();
  replace(params, query);
  connect(params, changed);
  return params;
}

/** The URL has another query now. */
export function replaceSearchParams(params: GuestUrlSearchParams, query: string): void {
  replace(params, query);
}

function matcher(name: unknown, value?: unknown): (pair: Pair) => boolean {
  const key = toUsv(name);
  const text = value === undefined ? undefined : toUsv(value);
  return (pair) => pair[0] === key && (text === undefined || pair[1] === text);
}

function readInit(init: unknown): Pair[] {
  if ((typeof init !== 'object' && typeof init !== 'function') || init === null)
    return parseQuery(toUsv(init).replace(/^\?/, ''));
  const iterator = (init as Iterable<unknown>)[Symbol.iterator];
  if (iterator === undefined || iterator === null) return readRecord(init);
  if (typeof iterator !== 'function')
    throw new TypeError('URLSearchParams takes a string, a list of pairs or an object');
  return Array.from(init as Iterable<unknown>, (pair) => {
    if (typeof pair !== 'object' || pair === null)
      throw codedError('ERR_INVALID_TUPLE', 'Each query pair must be an iterable [name, value] tuple', TypeError);
    const items = [...(pair as Iterable<unknown>)];
    if (items.length !== 2)
      throw codedError('ERR_INVALID_TUPLE', 'Each query pair must be an iterable [name, value] tuple', TypeError);
    return [toUsv(items[0]), toUsv(items[1])];
  });
}

function readRecord(record: object): Pair[] {
  const pairs = new Map<string, string>();
  for (const key of Reflect.ownKeys(record)) {
    if (Reflect.getOwnPropertyDescriptor(record, key)?.enumerable !== true) continue;
    pairs.set(toUsv(key), toUsv((record as Record<PropertyKey, unknown>)[key]));
  }
  return [...pairs];
}

function parseQuery(query: string): Pair[] {
  const pairs: Pair[] = [];
  for (const part of query.split('&')) {
    if (part === '') continue;
    const at = part.indexOf('=');
    pairs.push([unescape(at < 0 ? part : part.slice(0, at)), at < 0 ? '' : unescape(part.slice(at + 1))]);
  }
  return pairs;
}

function unescape(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    // A broken escape, or bytes that are no UTF-8: what can be decoded is.
    return decodeUtf8(theBridge(), percentDecode(encodeUtf8(theBridge(), spaced)));
  }
}

/** Bytes with `%41` and the like decoded; other percent signs stay. */
export function percentDecode(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(bytes.length);
  let length = 0;
  for (let i = 0; i < bytes.length; i++) {
    const escaped = bytes[i] === 0x25 ? String.fromCharCode(...bytes.subarray(i + 1, i + 3)) : '';
    const isEscape = /^[0-9a-f]{2}$/i.test(escaped);
    out[length++] = isEscape ? Number.parseInt(escaped, 16) : (bytes[i] as number);
    if (isEscape) i += 2;
  }
  return out.slice(0, length);
}

const MORE: Readonly<Record<string, string>> = {
  '!': '%21',
  "'": '%27',
  '(': '%28',
  ')': '%29',
  '~': '%7E',
  '%20': '+',
};

function escape(text: string): string {
  return encodeURIComponent(text).replace(/[!'()~]|%20/g, (found) => MORE[found] ?? found);
}
