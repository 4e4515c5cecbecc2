/**
 * JSON text that goes into an answer as it is. Emitted data is kept as text from `$emit` to the receiver; parsing it for
 * an answer would cost a pass, change numbers beyond 2^53, and overflow the stack on deep nesting.
 */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** JSON of one record, whose fields may be RawJson. */
export function recordToJson(record: object): string {
  if (!Object.values(record).some((value) => value instanceof RawJson)) return JSON.stringify(record);
  const fields = Object.entries(record)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${JSON.stringify(key)}:${value instanceof RawJson ? value.text : JSON.stringify(value)}`);
  return `{${fields.join(',')}}`;
}
