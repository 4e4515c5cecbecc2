const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const LINE_BREAKS = /[\0\r\n]/;

export type HeadersInput =
  | GuestHeaders
  | Iterable<readonly [string, string]>
  | Record<string, unknown>
  | undefined
  | null;

/** `Headers` of the Fetch standard: names in lower case, several values of a name joined, `set-cookie` kept apart. */
export class GuestHeaders {
  readonly #pairs: [string, string][] = [];

  constructor(init?: HeadersInput) {
    if (init === undefined || init === null) return;
    if (typeof init !== 'object') throw new TypeError('Headers takes an object or a list of pairs');
    const isList = Symbol.iterator in init;
    for (const pair of isList ? (init as Iterable<readonly [string, string]>) : Object.entries(init)) {
      const [name, value] = pair as readonly [string, unknown];
      this.append(name, value as string);
    }
  }

  append(name: string, value: string): void {
    this.#pairs.push([checkName(name), checkValue(name, value)]);
  }

  set(name: string, value: string): void {
    const key = checkName(name);
    const text = checkValue(name, value);
    this.#remove(key);
    this.#pairs.push([key, text]);
  }

  get(name: string): string | null {
    const key = checkName(name);
    const values = this.#pairs.filter((pair) => pair[0] === key).map((pair) => pair[1]);
    return values.length === 0 ? null : values.join(', ');
  }

  getSetCookie(): string[] {
    return this.#pairs.filter((pair) => pair[0] === 'set-cookie').map((pair) => pair[1]);
  }

  has(name: string): boolean {
    const key = checkName(name);
    return this.#pairs.some((pair) => pair[0] === key);
  }

  delete(name: string): void {
    this.#remove(checkName(name));
  }

  forEach(callback: (value: string, name: string, headers: GuestHeaders) => void, thisArg?: unknown): void {
    for (const [name, value] of this.entries()) callback.call(thisArg, value, name, this);
  }

  *entries(): IterableIterator<[string, string]> {
    const names = [...new Set(this.#pairs.map((pair) => pair[0]))].sort();
    for (const name of names) {
      if (name === 'set-cookie') for (const cookie of this.getSetCookie()) yield [name, cookie];
      else yield [name, this.get(name) as string];
    }
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this.entries()) yield name;
  }

  *values(): IterableIterator<string> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }

  get [Symbol.toStringTag](): string {
    return 'Headers';
  }

  /** As they go over the wire, in the order they were given. */
  pairs(): [string, string][] {
    return this.#pairs.map(([name, value]) => [name, value]);
  }

  #remove(key: string): void {
    for (let i = this.#pairs.length - 1; i >= 0; i--) if (this.#pairs[i]?.[0] === key) this.#pairs.splice(i, 1);
  }
}

function checkName(name: unknown): string {
  const text = String(name);
  if (!NAME.test(text)) throw new TypeError(`'${text.slice(0, 100)}' is not a valid header name`);
  return text.toLowerCase();
}

function checkValue(name: unknown, value: unknown): string {
  const text = String(value).trim();
  if (LINE_BREAKS.test(text)) throw new TypeError(`The value of header '${String(name)}' contains a line break`);
  return text;
}
