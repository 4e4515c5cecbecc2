const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;
/** Both brackets close two places after they open. */
const TO_CLOSE = 2;
const MINUS = 0x2d;
const PLUS = 0x2b;
const DOT = 0x2e;
const ZERO = 0x30;
const FIRST_PRINTED = 0x20;
const WORDS = ['true', 'false', 'null'];
/** Longer names are read by JSON.parse, in one piece. */
const MAX_HAND_CHARS = 1_000;
/** Position that stands for a missing value. */
export const NONE = -1;

/**
 * Finds the end of a JSON value, piece by piece. It keeps a list of open values, because recursion
 * would overflow the stack.
 */
export class JsonScanner {
  readonly #text: string;
  readonly #open: number[] = [];
  /** Start of a value, or the position within a string that is being read. */
  #at: number;
  #inString = false;

  constructor(text: string, from = 0) {
    this.#text = text;
    this.#at = skipSpace(text, from);
  }

  /**
   * Reads some `chars` on, and a member's name to its end. Answers where the value ends, or NONE;
   * undefined while there is more to read.
   */
  read(chars: number): number | undefined {
    const stop = this.#at + chars;
    while (this.#at < stop) {
      const end = this.#inString ? this.#readString(this.#at, stop) : this.#beginValue(this.#at, stop);
      if (end === NONE) return NONE;
      if (end === undefined) continue;
      const next = this.#endValue(end);
      if (next === NONE || this.#open.length === 0) return next;
      this.#at = next;
    }
    return undefined;
  }

  /**
   * End of the value at `at`. Undefined if it has members; the first comes next. Undefined also for
   * a string that continues at `stop`.
   */
  #beginValue(at: number, stop: number): number | undefined {
    const text = this.#text;
    const code = text.charCodeAt(at);
    if (code === QUOTE) return this.#readString(at + 1, stop);
    if (code !== OPEN_LIST && code !== OPEN_OBJECT) return scalarEnd(text, at, code);
    const first = skipSpace(text, at + 1);
    if (text.charCodeAt(first) === code + TO_CLOSE) return first + 1;
    const value = code === OPEN_OBJECT ? afterName(text, first) : first;
    if (value === NONE) return NONE;
    this.#open.push(code);
    this.#at = value;
    return undefined;
  }

  /** A string may be all there is, megabytes of it. */
  #readString(from: number, stop: number): number | undefined {
    const text = this.#text;
    let at = from;
    while (at < stop && at < text.length) {
      if (text.charCodeAt(at) === QUOTE) {
        this.#inString = false;
        return at + 1;
      }
      const chars = charsOfOne(text, at);
      if (chars === NONE) return NONE;
      at += chars;
    }
    if (at >= text.length) return NONE;
    this.#inString = true;
    this.#at = at;
    return undefined;
  }

  /** Start of the next value, or the end of the outermost value. */
  #endValue(end: number): number {
    const text = this.#text;
    let at = end;
    for (let holder = this.#open.at(-1); holder !== undefined; holder = this.#open.at(-1)) {
      at = skipSpace(text, at);
      const code = text.charCodeAt(at);
      if (code === COMMA) {
        const next = skipSpace(text, at + 1);
        return holder === OPEN_OBJECT ? afterName(text, next) : next;
      }
      if (code !== holder + TO_CLOSE) return NONE;
      this.#open.pop();
      at += 1;
    }
    return at;
  }
}

/** Start of the value after the member name at `start`, or NONE. */
export function afterName(text: string, start: number): number {
  const end = text.charCodeAt(start) === QUOTE ? stringEnd(text, start) : NONE;
  const colon = end === NONE ? NONE : skipSpace(text, end);
  return colon !== NONE && text.charCodeAt(colon) === COLON ? skipSpace(text, colon + 1) : NONE;
}

function scalarEnd(text: string, start: number, code: number): number {
  if (code === MINUS || isDigit(code)) return numberEnd(text, start);
  const word = WORDS.find((known) => text.startsWith(known, start));
  return word === undefined ? NONE : start + word.length;
}

export function stringEnd(text: string, start: number): number {
  const stop = Math.min(text.length, start + MAX_HAND_CHARS);
  for (let at = start + 1; at < stop; ) {
    if (text.charCodeAt(at) === QUOTE) return at + 1;
    const chars = charsOfOne(text, at);
    if (chars === NONE) return NONE;
    at += chars;
  }
  return longStringEnd(text, start);
}

/** How many characters of the text the one at `at` of a string is written with. */
function charsOfOne(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < FIRST_PRINTED) return NONE;
  if (code !== BACKSLASH) return 1;
  const escaped = text.charAt(at + 1);
  if (escaped === 'u') return /^[0-9a-f]{4}$/i.test(text.slice(at + 2, at + 6)) ? 6 : NONE;
  return escaped !== '' && '"\\/bfnrt'.includes(escaped) ? 2 : NONE;
}

function longStringEnd(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let first = quote;
    while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
    if ((quote - first) % 2 === 0) return isString(text.slice(start, quote + 1)) ? quote + 1 : NONE;
  }
  return NONE;
}

function isString(token: string): boolean {
  try {
    JSON.parse(token);
    return true;
  } catch {
    return false;
  }
}

function numberEnd(text: string, start: number): number {
  let at = text.charCodeAt(start) === MINUS ? start + 1 : start;
  at = text.charCodeAt(at) === ZERO ? at + 1 : digitsEnd(text, at);
  if (at !== NONE && text.charCodeAt(at) === DOT) at = digitsEnd(text, at + 1);
  if (at === NONE || (text.charAt(at) !== 'e' && text.charAt(at) !== 'E')) return at;
  const sign = text.charCodeAt(at + 1);
  return digitsEnd(text, sign === PLUS || sign === MINUS ? at + 2 : at + 1);
}

/** At least one of them. */
function digitsEnd(text: string, start: number): number {
  let at = start;
  while (isDigit(text.charCodeAt(at))) at++;
  return at === start ? NONE : at;
}

const isDigit = (code: number) => code >= ZERO && code <= ZERO + 9;

export function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

const isSpace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
