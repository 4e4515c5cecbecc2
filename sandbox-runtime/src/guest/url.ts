import { askText } from './ask-text.ts';
import { parseJson, stringifyOwn } from './intrinsics.ts';
import { type GuestUrlSearchParams, makeSearchParams, replaceSearchParams } from './url-search-params.ts';
import { asInterface, requireNamed, toUsv } from './web-idl.ts';

/** As the process answers them. */
type Parts = [
  href: string,
  origin: string,
  protocol: string,
  username: string,
  password: string,
  host: string,
  hostname: string,
  port: string,
  pathname: string,
  search: string,
  hash: string,
];

/**
 * `URL`, parsed by the process with Node's parser. With its tables for domain names, a JavaScript
 * parser would make up most of the snapshot.
 */
export class GuestUrl {
  #parts: Parts;
  #params: GuestUrlSearchParams | undefined;

  constructor(url: string, base?: string) {
    requireNamed(arguments.length, 'url');
    const parts = parseUrl(url, base);
    if (parts === undefined) throw invalidUrl(toUsv(url), base);
    this.#parts = parts;
  }

  static canParse(url: string, base?: string): boolean {
    requireNamed(arguments.length, 'url');
    return parseUrl(url, base) !== undefined;
  }

  static parse(url: string, base?: string): GuestUrl | null {
    requireNamed(arguments.length, 'url');
    const parts = parseUrl(url, base);
    return parts === undefined ? null : new GuestUrl(parts[0]);
  }

  get href(): string {
    return this.#parts[0];
  }
  set href(value: string) {
    const parts = parseUrl(value);
    if (parts === undefined) throw invalidUrl(toUsv(value));
    this.#take(parts);
  }
  get origin(): string {
    return this.#parts[1];
  }
  get protocol(): string {
    return this.#parts[2];
  }
  set protocol(value: string) {
    this.#set('protocol', value);
  }
  get username(): string {
    return this.#parts[3];
  }
  set username(value: string) {
    this.#set('username', value);
  }
  get password(): string {
    return this.#parts[4];
  }
  set password(value: string) {
    this.#set('password', value);
  }
  get host(): string {
    return this.#parts[5];
  }
  set host(value: string) {
    this.#set('host', value);
  }
  get hostname(): string {
    return this.#parts[6];
  }
  set hostname(value: string) {
    this.#set('hostname', value);
  }
  get port(): string {
    return this.#parts[7];
  }
  set port(value: string) {
    this.#set('port', value);
  }
  get pathname(): string {
    return this.#parts[8];
  }
  set pathname(value: string) {
    this.#set('pathname', value);
  }
  get search(): string {
    return this.#parts[9];
  }
  set search(value: string) {
    this.#set('search', value);
  }
  get searchParams(): GuestUrlSearchParams {
    this.#params ??= makeSearchParams(this.search.slice(1), (query) => {
      this.#parts = setPart(this.href, 'search', query) ?? this.#parts;
    });
    return this.#params;
  }
  get hash(): string {
    return this.#parts[10];
  }
  set hash(value: string) {
    this.#set('hash', value);
  }

  toString(): string {
    return this.#parts[0];
  }

  toJSON(): string {
    return this.#parts[0];
  }

  #set(part: string, value: unknown): void {
    this.#take(setPart(this.href, part, toUsv(value)) ?? this.#parts);
  }

  #take(parts: Parts): void {
    const changed = parts[9] !== this.#parts[9];
    this.#parts = parts;
    if (changed && this.#params !== undefined) replaceSearchParams(this.#params, parts[9].slice(1));
  }
}
asInterface(GuestUrl, 'URL');

function parseUrl(url: unknown, base?: unknown): Parts | undefined {
  const order = base === undefined ? [toUsv(url)] : [toUsv(url), toUsv(base)];
  return ask(order);
}

function setPart(href: string, part: string, value: string): Parts | undefined {
  return ask([href, part, value]);
}

function ask(order: string[]): Parts | undefined {
  const answer = askText({ kind: 'url', order: stringifyOwn(order) });
  return answer === '' ? undefined : (parseJson(answer) as Parts);
}

/** With the code and the members that Node's error has. */
function invalidUrl(input: string, base?: unknown): TypeError {
  const error = new TypeError('Invalid URL');
  return Object.assign(error, { code: 'ERR_INVALID_URL', input, ...(base === undefined ? {} : { base: toUsv(base) }) });
}
