/**
 * Put together with its neighbours rather than kept as a part: each part is a turn of its own where
 * the answer is joined.
 */
const SHORT_CHARS = 16 * 1024;

/**
 * JSON text that goes into an answer as it is. Emitted data is kept as text from `$emit` to the
 * receiver; parsing it for an answer would cost a pass, change numbers beyond 2^53, and overflow
 * the stack on deep nesting.
 */
export class RawJson {
  /** Parts that are never joined: joining megabytes takes milliseconds each time. */
  readonly parts: Iterable<string>;

  constructor(...parts: string[]) {
    this.parts = parts;
  }
}

/** RawJson that makes each part on demand, so that other work gets the thread in between. */
class LateJson extends RawJson {
  override readonly parts: Iterable<string>;
  readonly content: object;

  constructor(content: object, make: () => Iterator<string>) {
    super();
    this.content = content;
    this.parts = { [Symbol.iterator]: make };
  }
}

/**
 * A record below the top of an answer, where only text can hold JSON text. Each field is made when
 * it is asked for.
 */
export function lateRecord<T extends object>(record: T): T {
  return new LateJson(record, () => joinShort(fieldParts(record))) as unknown as T;
}

/** A list that converts each item to JSON on demand. */
export function lateList<T>(items: readonly T[]): T[] {
  return new LateJson(items, () => joinShort(itemParts(items))) as unknown as T[];
}

/** JSON of one record, in parts. Its fields may be RawJson. */
export function* recordParts(record: object): Generator<string> {
  if (Object.values(record).some((value) => value instanceof RawJson)) yield* joinShort(fieldParts(record));
  else yield JSON.stringify(record);
}

export function recordToJson(record: object): string {
  return [...recordParts(record)].join('');
}

/** Estimated characters of a number, or of the punctuation around a text or a name. */
const FEW_CHARS = 4;

/** About as many characters as the JSON of a value has, without making it. */
export function charsIn(value: unknown): number {
  const left = [value];
  let chars = 0;
  while (left.length > 0) {
    const last = left.pop();
    const next = last instanceof LateJson ? last.content : last;
    chars += FEW_CHARS;
    if (typeof next === 'string') chars += next.length;
    else if (next instanceof RawJson) for (const part of next.parts) chars += part.length;
    else if (Array.isArray(next)) for (const item of next) left.push(item);
    else if (typeof next === 'object' && next !== null)
      for (const [name, field] of Object.entries(next)) {
        chars += name.length;
        left.push(field);
      }
  }
  return chars;
}

function* fieldParts(record: object): Generator<string> {
  let before = '{';
  for (const [key, value] of Object.entries(record)) {
    if (value === undefined) continue;
    yield `${before}${JSON.stringify(key)}:`;
    before = ',';
    yield* valueParts(value);
  }
  yield before === '{' ? '{}' : '}';
}

function* itemParts(items: readonly unknown[]): Generator<string> {
  yield '[';
  for (const [index, item] of items.entries()) {
    if (index > 0) yield ',';
    yield* valueParts(item);
  }
  yield ']';
}

function valueParts(value: unknown): Iterable<string> {
  return value instanceof RawJson ? value.parts : [JSON.stringify(value)];
}

function* joinShort(parts: Iterable<string>): Generator<string> {
  let text = '';
  for (const part of parts) {
    if (text.length + part.length <= SHORT_CHARS) text += part;
    else {
      if (text !== '') yield text;
      text = part;
    }
  }
  yield text;
}
