/** Copied into the text around it rather than kept as a part. */
const SHORT_CHARS = 16 * 1024;

/**
 * JSON text that goes into an answer as it is. Emitted data is kept as text from `$emit` to the receiver; parsing it for
 * an answer would cost a pass, change numbers beyond 2^53, and overflow the stack on deep nesting.
 */
export class RawJson {
  /** In parts that are never put together: each time costs milliseconds where they are megabytes. */
  readonly parts: readonly string[];

  constructor(...parts: string[]) {
    this.parts = parts;
  }
}

/** JSON of one record, whose fields may be RawJson, in parts. */
export function recordParts(record: object): string[] {
  if (!Object.values(record).some((value) => value instanceof RawJson)) return [JSON.stringify(record)];
  const parts: string[] = [];
  let text = '{';
  const add = (part: string) => {
    if (part.length <= SHORT_CHARS) text += part;
    else {
      parts.push(text, part);
      text = '';
    }
  };
  let isFirst = true;
  for (const [key, value] of Object.entries(record)) {
    if (value === undefined) continue;
    add(`${isFirst ? '' : ','}${JSON.stringify(key)}:`);
    isFirst = false;
    if (value instanceof RawJson) value.parts.forEach(add);
    else add(JSON.stringify(value));
  }
  return [...parts, `${text}}`];
}

export function recordToJson(record: object): string {
  return recordParts(record).join('');
}
