import type { Bridge } from './bridge.ts';
import { append, ownKeys, sliceText, stringifyJson, stringifyOwn } from './intrinsics.ts';
import type { RunContext } from './run-context.ts';

/** The beginning that is kept of a value that is too long. */
const CUT_CHARS = 1_024;
/** Deeper values are cut: they are written by a function that calls itself. */
const MAX_DEPTH = 100;

/**
 * Hands over evaluated props, for the record of the step: JSON of an object, and of an array with
 * the names of those that are cut. A value that has no room is the beginning of its JSON, as a
 * string: megabytes are never written for that.
 */
export function postProps(
  bridge: Pick<Bridge, 'post'>,
  { run, limits: { recordedPropsChars: maxChars } }: Pick<RunContext, 'run' | 'limits'>,
  evaluated: readonly (readonly [string, unknown])[],
): void {
  let json = '{';
  const cut: string[] = [];
  for (let at = 0; at < evaluated.length; at += 1) {
    const [name, value] = evaluated[at] as [string, unknown];
    if (value === undefined) continue;
    const key = `${json === '{' ? '' : ','}${stringifyJson(name)}:`;
    // The closing brace has its room.
    const room = maxChars - 1 - json.length - key.length;
    const whole = writeUpTo(value, room);
    if (whole.isCut) append(cut, name);
    const text = whole.isCut ? stringifyJson(writeUpTo(value, CUT_CHARS).text) : whole.text;
    // If not even a shortened value fits, its name in `cut` reports it.
    if (text.length <= room) json += key + text;
  }
  bridge.post({ kind: 'step-props', run, props: `${json}}`, cut: stringifyOwn(cut) });
}

interface Writing {
  text: string;
  readonly max: number;
}

/** JSON of plain data, or the first `max` characters of it. */
function writeUpTo(value: unknown, max: number): { text: string; isCut: boolean } {
  if (max <= 0) return { text: '', isCut: true };
  const writing: Writing = { text: '', max };
  const isWhole = write(writing, value, 0);
  return { text: isWhole ? writing.text : sliceText(writing.text, 0, max), isCut: !isWhole };
}

/** False once there is more than the text may hold. */
function write(writing: Writing, value: unknown, depth: number): boolean {
  if (typeof value === 'string') return add(writing, stringifyJson(sliceText(value, 0, writing.max + 1)));
  if (typeof value !== 'object' || value === null) return add(writing, stringifyJson(value) ?? 'null');
  if (depth > MAX_DEPTH) return false;
  return Array.isArray(value) ? writeList(writing, value, depth) : writeObject(writing, value, depth);
}

function writeList(writing: Writing, list: readonly unknown[], depth: number): boolean {
  add(writing, '[');
  for (let at = 0; at < list.length; at += 1) {
    if (at > 0) add(writing, ',');
    if (!write(writing, list[at], depth + 1)) return false;
  }
  return add(writing, ']');
}

function writeObject(writing: Writing, value: object, depth: number): boolean {
  const keys = ownKeys(value);
  add(writing, '{');
  for (let at = 0; at < keys.length; at += 1) {
    const key = keys[at] as string;
    const head = `${at === 0 ? '' : ','}${stringifyJson(sliceText(key, 0, writing.max + 1))}:`;
    if (!add(writing, head) || !write(writing, (value as Record<string, unknown>)[key], depth + 1)) return false;
  }
  return add(writing, '}');
}

function add(writing: Writing, text: string): boolean {
  writing.text += text;
  return writing.text.length <= writing.max;
}
