import { createGiveWay } from '../fairness/give-way.ts';
import { afterName, JsonScanner, NONE, skipSpace, stringEnd } from './json-scanner.ts';

/** JSON.parse reads a text this long without a noticeable pause. */
const MAX_AT_ONCE_CHARS = 64 * 1024;
/** A millisecond, at the most. */
const SLICE_CHARS = 16 * 1024;
/**
 * Longest member name that is compared, with quotes and every character escaped. No name that
 * callers look for is longer.
 */
const MAX_NAME_CHARS = 256;

/** Whether a text is JSON, where that is told in no time; undefined for a longer one. */
export function isShortJson(text: string): boolean | undefined {
  if (text.length > MAX_AT_ONCE_CHARS) return undefined;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether a text is JSON, told in turns with others. Nothing is made of it: JSON.parse takes half a
 * second for six megabytes of `[],`, in one piece, and ten times their room.
 */
export async function isLongJson(text: string): Promise<boolean> {
  const end = await valueEnd(text, 0, createGiveWay(0));
  return end !== NONE && skipSpace(text, end) === text.length;
}

/** Either of them. */
export async function isJson(text: string): Promise<boolean> {
  return isShortJson(text) ?? isLongJson(text);
}

/**
 * The JSON texts of an object's members of these names, found in turns with others and without a
 * value being made; of a name that is there twice the last, as JSON.parse has it. Undefined where
 * the text is no object.
 */
export async function readMembers<N extends string>(
  text: string,
  names: readonly N[],
): Promise<Partial<Record<N, string>> | undefined> {
  const giveWay = text.length > MAX_AT_ONCE_CHARS ? createGiveWay(0) : createGiveWay();
  const found = new Map<string, string>();
  const wanted: ReadonlySet<string> = new Set(names);
  let at = skipSpace(text, 0);
  if (text.charAt(at) !== '{') return undefined;
  at = skipSpace(text, at + 1);
  while (text.charAt(at) !== '}') {
    const start = afterName(text, at);
    const end = start === NONE ? NONE : await valueEnd(text, start, giveWay);
    if (end === NONE) return undefined;
    const name = text.slice(at, stringEnd(text, at));
    if (name.length <= MAX_NAME_CHARS) {
      const read = JSON.parse(name) as string;
      if (wanted.has(read)) found.set(read, text.slice(start, end));
    }
    const next = skipSpace(text, end);
    at = text.charAt(next) === ',' ? skipSpace(text, next + 1) : next;
  }
  return Object.fromEntries(found) as Partial<Record<N, string>>;
}

async function valueEnd(text: string, from: number, giveWay: () => Promise<void>): Promise<number> {
  const scanner = new JsonScanner(text, from);
  for (;;) {
    await giveWay();
    const end = scanner.read(SLICE_CHARS);
    if (end !== undefined) return end;
  }
}
