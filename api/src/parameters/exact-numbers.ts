import { randomUUID } from 'node:crypto';
import { HeadwaterError } from '@headwater/shared';

/**
 * JSON with numbers that a double would change, such as ids of 64 bits. Each is a text that begins
 * with `mark` in what `text` parses to, until `numbersIn` puts it back.
 */
export interface MarkedJson {
  text: string;
  mark: string;
}

const MAY_BE_INEXACT = /[\d.]{16}|\d[eE][+-]?\d{3}/;

const MAX_NUMBER_CHARS = 1_000;

const NUMBER = /^-?(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Undefined where each number of `text` fits into a double. Broken JSON stays broken. */
export function markNumbers(text: string): MarkedJson | undefined {
  if (!MAY_BE_INEXACT.test(text)) return undefined;
  const mark = randomUUID();
  const parts: string[] = [];
  let taken = 0;
  for (let at = 0; at < text.length; ) {
    if (text.charCodeAt(at) === QUOTE) at = stringEnd(text, at);
    else {
      const end = numberEnd(text, at);
      if (end > at && isInexact(text.slice(at, end)) && !isFollowedByColon(text, end)) {
        parts.push(text.slice(taken, at), `"${mark}${text.slice(at, end)}"`);
        taken = end;
      }
      at = Math.max(at + 1, end);
    }
  }
  return parts.length === 0 ? undefined : { text: parts.join('') + text.slice(taken), mark };
}

/** With the numbers of `json` as `JSON.stringify` writes them with all digits, or as plain ones. */
export function numbersIn(value: unknown, marked: MarkedJson, exactly: boolean): unknown {
  const { mark } = marked;
  if (typeof value === 'string' && value.startsWith(mark)) {
    const source = value.slice(mark.length);
    return exactly ? rawJSON(source) : Number(source);
  }
  if (typeof value !== 'object' || value === null) return value;
  for (const [name, member] of Object.entries(value)) {
    const restored = numbersIn(member, marked, exactly);
    // Not an assignment: the member may be `__proto__`.
    if (restored !== member) Object.defineProperty(value, name, { value: restored, enumerable: true, writable: true });
  }
  return value;
}

const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown };

const QUOTE = 0x22;

function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text.charAt(before - 1) === '\\') before--;
    if ((end - before) % 2 === 0) return end + 1;
  }
  return text.length;
}

function numberEnd(text: string, start: number): number {
  let end = start;
  while (isOfNumber(text.charCodeAt(end))) end++;
  if (end - start > MAX_NUMBER_CHARS) {
    const message = `has a number of more than ${MAX_NUMBER_CHARS} characters at position ${start}`;
    throw new HeadwaterError('INVALID_REQUEST', `The body ${message}`, { fields: [{ path: 'body', message }] });
  }
  return end;
}

/** A digit, `.`, `e`, `E`, `+` or `-`. False beyond the end, where the code is NaN. */
function isOfNumber(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2e || (code | 0x20) === 0x65 || code === 0x2b || code === 0x2d;
}

/** It would become the name of a member. */
function isFollowedByColon(text: string, end: number): boolean {
  let at = end;
  while (' \t\n\r'.includes(text.charAt(at)) && at < text.length) at++;
  return text.charAt(at) === ':';
}

function isInexact(source: string): boolean {
  const given = digitsOf(source);
  if (given === undefined) return false;
  const value = Number(source);
  return !Number.isFinite(value) || given !== digitsOf(String(value));
}

/** Significant digits and the exponent, equal for all ways to write one number. */
function digitsOf(source: string): string | undefined {
  const [, whole, fraction = '', exponent = '0'] = NUMBER.exec(source) ?? [];
  if (whole === undefined) return undefined;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
