import { type Charset, charsetOf, hidesInAscii, UTF8 } from './charset.ts';

const PERCENT = 0x25;
const PLUS = 0x2b;
const SPACE = 0x20;

/**
 * JSON text of a form: `a=1&b=2&b=3` → `{"a":"1","b":["2","3"]}`. It is read as bytes, and so are
 * its percent escapes, because only bytes have a charset. `declared`: by the content type. Default:
 * the form's own `_charset_` field (HTML, "constructing the entry list"), else UTF-8.
 */
export function formJson(bytes: Buffer, declared?: Charset): string {
  if (bytes.length === 0) return '{}';
  if (declared !== undefined && hidesInAscii(declared)) {
    return formJson(Buffer.from(declared.decode(bytes)), UTF8);
  }
  const pairs = splitPairs(withoutMark(bytes));
  const charset = declared ?? ownCharset(pairs) ?? UTF8;
  const fields = new Map<string, string[]>();
  for (const [rawName, rawValue] of pairs) {
    const [name, value] = [unescape(rawName, charset), unescape(rawValue, charset)];
    const known = fields.get(name);
    if (known === undefined) fields.set(name, [value]);
    else known.push(value);
  }
  return fieldsJson(fields);
}

/** One key a field, an array where a field is repeated. */
export function fieldsJson(fields: ReadonlyMap<string, unknown[]>): string {
  const entries = [...fields].map(([name, values]) => [name, values.length === 1 ? values[0] : values] as const);
  // fromEntries defines own properties: a field named `__proto__` is a field.
  return JSON.stringify(Object.fromEntries(entries));
}

/** Each character of the pairs is a byte. */
function splitPairs(bytes: Buffer): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (const pair of bytes.toString('latin1').split('&')) {
    if (pair === '') continue;
    const mark = pair.indexOf('=');
    pairs.push(mark === -1 ? [pair, ''] : [pair.slice(0, mark), pair.slice(mark + 1)]);
  }
  return pairs;
}

function ownCharset(pairs: readonly [string, string][]): Charset | undefined {
  const label = pairs.find(([name]) => name === '_charset_')?.[1];
  return label === undefined ? undefined : charsetOf(label);
}

const PLAIN = /^[\0-$&-*,-\x7f]*$/;

function unescape(latin1: string, charset: Charset): string {
  return PLAIN.test(latin1) ? latin1 : charset.decode(unescapedBytes(latin1));
}

/**
 * Each character of the text is a byte. In place: a character of its own for each `+`, put to the
 * end of a string, takes half a second for millions.
 */
export function unescapedBytes(latin1: string): Buffer {
  const bytes = Buffer.from(latin1, 'latin1');
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    let byte = bytes[at] as number;
    if (byte === PLUS) byte = SPACE;
    else if (byte === PERCENT) {
      const escaped = hexPair(bytes[at + 1], bytes[at + 2]);
      if (escaped !== undefined) {
        byte = escaped;
        at += 2;
      }
    }
    bytes[length++] = byte;
  }
  return bytes.subarray(0, length);
}

function hexPair(high: number | undefined, low: number | undefined): number | undefined {
  const [first, second] = [hexDigit(high), hexDigit(low)];
  return first === undefined || second === undefined ? undefined : first * 16 + second;
}

function hexDigit(byte: number | undefined): number | undefined {
  if (byte === undefined) return undefined;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined;
}

const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

function withoutMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, MARK.length).equals(MARK) ? bytes.subarray(MARK.length) : bytes;
}
