import { findTooManyOfRequest, HeadwaterError } from '@headwater/shared';
import { type MarkedJson, markNumbers } from './exact-numbers.ts';

/**
 * To look for a mistake takes ten times as long as to parse: a third of a second in one piece for
 * the largest bodies.
 */
const MAX_SEARCHED_CHARS = 128 * 1024;

/**
 * Parses a request's JSON; broken JSON is an INVALID_REQUEST that names the position (0-based, in
 * characters; not of texts longer than MAX_SEARCHED_CHARS) and `path`, and so is one of too many
 * values.
 */
export function parseJsonText(text: string, path: string): unknown {
  checkCount(text, path);
  return parsed(text, text, path);
}

/** As `parseJsonText`. `marked`: its numbers that a double would change are texts yet. */
export function parseMarkedJson(text: string, path: string): { value: unknown; marked: MarkedJson | undefined } {
  checkCount(text, path);
  const marked = markNumbers(text, path);
  return { value: parsed(marked?.text ?? text, text, path), marked };
}

/** `text`: what the client sent, which `json` may have been made of. */
function parsed(json: string, text: string, path: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    const message = `is not valid JSON${text.length > MAX_SEARCHED_CHARS ? '' : describeMistake(text)}`;
    throw new HeadwaterError('INVALID_REQUEST', `The ${path} ${message}`, { fields: [{ path, message }] });
  }
}

/** Before anything is made of the text: each value costs time of the thread. */
function checkCount(text: string, path: string): void {
  const tooMany = findTooManyOfRequest(text);
  if (tooMany !== undefined)
    throw new HeadwaterError('INVALID_REQUEST', `The ${path} ${tooMany.message}`, { fields: [{ path, ...tooMany }] });
}

function describeMistake(text: string): string {
  const position = findJsonError(text);
  const found = position >= text.length ? 'end' : JSON.stringify(text.slice(position, position + 1));
  return `: unexpected ${found} at position ${position}`;
}

const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPE = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y;

type Expected = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end' | 'nothing';

/**
 * Position where `text` stops being JSON. Call it only after JSON.parse failed: V8's message omits
 * some positions, and quotes the text.
 */
export function findJsonError(text: string): number {
  const open: string[] = [];
  let expected: Expected = 'value';
  let at = 0;
  for (;;) {
    at = skipSpace(text, at);
    const token = tokenKind(text.charAt(at));
    const end = tokenEnd(text, at, token);
    const next: Expected | undefined = end === undefined ? undefined : advance(expected, token, open);
    if (end === undefined || next === undefined) return at;
    expected = next;
    at = end;
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at++;
  return at;
}

function tokenKind(first: string): string {
  if (first === '"') return 'string';
  return first !== '' && '{}[],:'.includes(first) ? first : 'scalar';
}

function tokenEnd(text: string, at: number, token: string): number | undefined {
  if (token === 'string') return stringEnd(text, at);
  if (token !== 'scalar') return at + 1;
  SCALAR.lastIndex = at;
  return SCALAR.test(text) ? SCALAR.lastIndex : undefined;
}

// By hand: a regular expression over a string of megabytes overflows its backtracking stack.
function stringEnd(text: string, start: number): number | undefined {
  let at = start + 1;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code < 0x20) return undefined;
    if (code === 0x5c) {
      ESCAPE.lastIndex = at + 1;
      if (!ESCAPE.test(text)) return undefined;
      at = ESCAPE.lastIndex;
    } else at++;
  }
  return undefined;
}

function advance(expected: Expected, token: string, open: string[]): Expected | undefined {
  switch (expected) {
    case 'value':
    case 'value-or-end':
      if (token === ']' && expected === 'value-or-end') return close(open, '[');
      return startValue(token, open);
    case 'key':
    case 'key-or-end':
      if (token === '}' && expected === 'key-or-end') return close(open, '{');
      return token === 'string' ? 'colon' : undefined;
    case 'colon':
      return token === ':' ? 'value' : undefined;
    case 'comma-or-end':
      if (token === ',') return open.at(-1) === '{' ? 'key' : 'value';
      return token === '}' ? close(open, '{') : token === ']' ? close(open, '[') : undefined;
    case 'nothing':
      return undefined;
  }
}

function startValue(token: string, open: string[]): Expected | undefined {
  if (token === '{' || token === '[') {
    open.push(token);
    return token === '{' ? 'key-or-end' : 'value-or-end';
  }
  return token === 'string' || token === 'scalar' ? afterValue(open) : undefined;
}

function close(open: string[], bracket: string): Expected | undefined {
  if (open.at(-1) !== bracket) return undefined;
  open.pop();
  return afterValue(open);
}

function afterValue(open: string[]): Expected {
  return open.length === 0 ? 'nothing' : 'comma-or-end';
}
