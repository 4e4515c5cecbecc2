import { randomBytes } from 'node:crypto';
import { HeadwaterError, LIMITS, platformLimit } from '@headwater/shared';

/**
 * JSON with numbers that a double would change, such as ids of 64 bits. Each is a text that begins
 * with `mark` in what `text` parses to, until `numbersIn` puts it back.
 */
export interface MarkedJson {
  text: string;
  mark: string;
}

/** A double holds every number of so many digits, but for those next to 0 and to infinity. */
const SAFE_DIGITS = 15;
/** Digits that a double is written with, so that it is read as the same one. */
const MAX_DIGITS_OF_DOUBLE = 17;
const SMALLEST_EXACT = 1e-300;

const NUMBER = /^-?(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Undefined where each number of `text` fits into a double. Broken JSON stays broken. Throws
 * INVALID_REQUEST for a number of too many characters and for too many of them; `path` names the
 * text.
 */
export function markNumbers(text: string, path: string): MarkedJson | undefined {
  const mark = randomBytes(9).toString('base64');
  const parts: string[] = [];
  let marked = 0;
  let taken = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else if (code === MINUS || isDigit(code)) {
      const end = numberEnd(text, at, path);
      if (isInexact(text, at, end) && !isFollowedByColon(text, end)) {
        marked += 1;
        checkMarked(marked, path);
        parts.push(text.slice(taken, at), `"${mark}${text.slice(at, end)}"`);
        taken = end;
      }
      at = end;
    } else at += 1;
  }
  return parts.length === 0 ? undefined : { text: parts.join('') + text.slice(taken), mark };
}

/** Path of the first number of `value` that a double would change. */
export function findMarked(value: unknown, marked: MarkedJson, path: string): string | undefined {
  if (typeof value === 'string') return value.startsWith(marked.mark) ? path : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const found = findMarked(member, marked, `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** With the numbers of `json` as `JSON.stringify` writes them with all digits, or as plain ones. */
export function numbersIn(value: unknown, marked: MarkedJson, exactly: boolean): unknown {
  const { mark } = marked;
  if (typeof value === 'string') {
    if (!value.startsWith(mark)) return value;
    const source = value.slice(mark.length);
    return exactly ? rawJSON(source) : Number(source);
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const list = value as unknown[];
    for (let at = 0; at < list.length; at++) list[at] = numbersIn(list[at], marked, exactly);
    return list;
  }
  for (const name of Object.keys(value)) {
    const member: unknown = (value as Record<string, unknown>)[name];
    const restored = numbersIn(member, marked, exactly);
    // Not an assignment: the member may be `__proto__`.
    if (restored !== member) Object.defineProperty(value, name, { value: restored, enumerable: true, writable: true });
  }
  return value;
}

const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown };

const QUOTE = 0x22;
const MINUS = 0x2d;

function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text.charAt(before - 1) === '\\') before--;
    if ((end - before) % 2 === 0) return end + 1;
  }
  return text.length;
}

function numberEnd(text: string, start: number, path: string): number {
  let end = start + 1;
  while (isOfNumber(text.charCodeAt(end))) end++;
  const limit = platformLimit('maxApiJsonNumberChars', end - start);
  if (limit.used <= limit.value) return end;
  throw refused(path, `has a number of more than ${limit.value} characters at position ${start}`, limit);
}

function checkMarked(marked: number, path: string): void {
  if (marked <= LIMITS.maxApiJsonLongNumbers) return;
  const limit = platformLimit('maxApiJsonLongNumbers', marked);
  throw refused(path, `has more than ${limit.value} numbers that a double would change`, limit);
}

function refused(path: string, message: string, limit: ReturnType<typeof platformLimit>): HeadwaterError {
  return new HeadwaterError('INVALID_REQUEST', `The ${path} ${message}`, { fields: [{ path, message, limit }] });
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** A digit, `.`, `e`, `E`, `+` or `-`. False beyond the end, where the code is NaN. */
function isOfNumber(code: number): boolean {
  return isDigit(code) || code === 0x2e || (code | 0x20) === 0x65 || code === 0x2b || code === MINUS;
}

/** It would become the name of a member. */
function isFollowedByColon(text: string, end: number): boolean {
  let at = end;
  while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at++;
  return text.charAt(at) === ':';
}

function isInexact(text: string, start: number, end: number): boolean {
  if (end - start <= SAFE_DIGITS && !hasExponent(text, start, end)) return false;
  const source = text.slice(start, end);
  const value = Number(source);
  // Not of broken JSON, whose value is NaN.
  if (!Number.isFinite(value)) return Math.abs(value) === Infinity;
  if (end - start <= SAFE_DIGITS && Math.abs(value) > SMALLEST_EXACT) return false;
  return String(value) !== source && differs(source, value);
}

function hasExponent(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if ((text.charCodeAt(at) | 0x20) === 0x65) return true;
  return false;
}

function differs(source: string, value: number): boolean {
  const given = decimalOf(source);
  if (given === undefined) return false;
  const { digits, exponent } = given;
  // Some programs write a double with more digits than it needs: 0.10000000000000001.
  const mayBeLonger = exponent < 0 && digits.length <= MAX_DIGITS_OF_DOUBLE && Math.abs(value) > SMALLEST_EXACT;
  const written = [String(value), ...(mayBeLonger ? [value.toPrecision(digits.length)] : [])];
  return !written.map(decimalOf).some((held) => held?.digits === digits && held.exponent === exponent);
}

/** Significant digits and the exponent, equal for all ways to write one number. */
function decimalOf(source: string): { digits: string; exponent: number } | undefined {
  const [, whole, fraction = '', exponent = '0'] = NUMBER.exec(source) ?? [];
  if (whole === undefined) return undefined;
  const all = `${whole}${fraction}`.replace(/^0+/, '');
  const digits = all.replace(/0+$/, '');
  if (digits === '') return { digits: '0', exponent: 0 };
  return { digits, exponent: Number(exponent) - fraction.length + all.length - digits.length };
}
