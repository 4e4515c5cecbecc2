import { LIMITS } from '@headwater/shared';
import { type Charset, charsetOf, declaredCharset, UTF8, withoutUtf8Mark } from './charset.ts';
import { fieldsJson } from './form-pairs.ts';

/** A form's file as the component gets it. */
interface FormFile {
  filename: string;
  mimetype: string;
  /** Bytes. */
  size: number;
  encoding: 'base64';
  content: string;
}

interface Part {
  /** Names in lower case; a character of the values is a byte. */
  headers: ReadonlyMap<string, string>;
  /** Parameters of the content disposition. */
  parameters: ReadonlyMap<string, string>;
  content: Buffer;
}

/**
 * JSON text of a multipart body: one key a field, an array where a field is repeated; a part
 * without a name is under ``. Undefined where the body is not what its content type says, or has
 * more than LIMITS.maxFormFields fields.
 */
export function multipartJson(contentType: string, body: Buffer): string | undefined {
  const boundary = boundaryOf(contentType);
  const bytes = withoutUtf8Mark(body);
  const parts = boundary === undefined ? undefined : splitParts(bytes, Buffer.from(`--${boundary}`, 'latin1'));
  if (parts === undefined) return undefined;
  const charset = charsetOfForm(contentType, parts);
  const fields = new Map<string, (string | FormFile)[]>();
  for (const part of parts) {
    const name = nameOf(part, 'name', charset) ?? '';
    const field = presentPart(part, charset);
    const known = fields.get(name);
    if (known === undefined) fields.set(name, [field]);
    else known.push(field);
  }
  return fieldsJson(fields);
}

/** RFC 2046. A search for a longer text takes time with its length, at each place of the body. */
const MAX_BOUNDARY_CHARS = 70;
const BOUNDARY = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i;

function boundaryOf(contentType: string): string | undefined {
  const match = BOUNDARY.exec(contentType);
  const boundary = match?.[1] ?? match?.[2];
  return boundary === undefined || boundary.length > MAX_BOUNDARY_CHARS ? undefined : boundary;
}

/** RFC 7578, 4.6: a field of this name says the charset of the others. */
function charsetOfForm(contentType: string, parts: readonly Part[]): Charset {
  const own = parts.find((part) => part.parameters.get('name') === '_charset_');
  const label = own?.content.subarray(0, MAX_BOUNDARY_CHARS).toString('latin1').trim();
  return (label === undefined ? undefined : charsetOf(label)) ?? declaredCharset(contentType) ?? UTF8;
}

const LF = 0x0a;
const CR = 0x0d;
const DASH = 0x2d;

/** Undefined where a part or the last delimiter is broken, or one of the bounds is exceeded. */
function splitParts(bytes: Buffer, delimiter: Buffer): Part[] | undefined {
  const parts: Part[] = [];
  let start = nextDelimiter(bytes, delimiter, 0);
  while (start !== -1) {
    const after = start + delimiter.length;
    // A form with nothing but a text before its end is none: the text would be lost.
    if (isLast(bytes, after)) return parts.length === 0 && start > 0 ? undefined : parts;
    const end = nextDelimiter(bytes, delimiter, after);
    // Tiny parts, and header lines of parts, cost a hundred times more than their bytes.
    if (end === -1 || parts.length === LIMITS.maxFormFields) return undefined;
    const part = readPart(bytes.subarray(bytes.indexOf(LF, after) + 1, end));
    if (part === undefined) return undefined;
    parts.push(part);
    start = end;
  }
  return undefined;
}

/** A delimiter begins a line, and is all of it. */
function nextDelimiter(bytes: Buffer, delimiter: Buffer, from: number): number {
  for (let at = bytes.indexOf(delimiter, from); at !== -1; at = bytes.indexOf(delimiter, at + delimiter.length)) {
    const after = at + delimiter.length;
    if ((at === 0 || bytes[at - 1] === LF) && (isLast(bytes, after) || endsLine(bytes, after))) return at;
  }
  return -1;
}

function isLast(bytes: Buffer, after: number): boolean {
  return bytes[after] === DASH && bytes[after + 1] === DASH;
}

/** RFC 2046 lets senders pad the line. */
const MAX_PADDING = 16;

function endsLine(bytes: Buffer, from: number): boolean {
  for (let at = from; at < from + MAX_PADDING; at++) {
    const byte = bytes[at];
    if (byte === LF) return true;
    if (byte !== CR && byte !== 0x20 && byte !== 0x09) return false;
  }
  return false;
}

/**
 * The line break before a delimiter is the delimiter's, unless it is the empty line below the
 * headers.
 */
function contentOf(part: Buffer, from: number): Buffer {
  const breakChars = part.at(-2) === CR ? 2 : 1;
  return part.subarray(from, Math.max(from, part.length - breakChars));
}

/** Two or three are usual. */
const MAX_HEAD_LINES = 16;

function readPart(bytes: Buffer): Part | undefined {
  const head = bytes.subarray(0, LIMITS.maxPartHeadBytes).toString('latin1');
  const headers = new Map<string, string>();
  let at = 0;
  for (let line = 0; line <= MAX_HEAD_LINES; line++) {
    const end = head.indexOf('\n', at);
    if (end === -1) return undefined;
    const text = head.slice(at, head.charCodeAt(end - 1) === CR ? end - 1 : end);
    at = end + 1;
    if (text === '') {
      const parameters = parametersOf(headers.get('content-disposition') ?? '');
      return { headers, parameters, content: contentOf(bytes, at) };
    }
    const colon = text.indexOf(':');
    if (colon > 0) headers.set(text.slice(0, colon).trim().toLowerCase(), text.slice(colon + 1).trim());
  }
  return undefined;
}

/**
 * Parses `form-data; name="a"; filename=b`. A regular expression would backtrack for hours on
 * hostile input.
 */
function parametersOf(value: string): Map<string, string> {
  const parameters = new Map<string, string>();
  let at = value.indexOf(';');
  while (at !== -1) {
    const equals = value.indexOf('=', at);
    if (equals === -1) break;
    const name = value
      .slice(at + 1, equals)
      .trim()
      .toLowerCase();
    let start = equals + 1;
    while (value.charAt(start) === ' ') start++;
    const quoted = value.charAt(start) === '"';
    const end = quoted ? quoteEnd(value, start + 1) : endOf(value, ';', start);
    const text = value.slice(quoted ? start + 1 : start, end);
    if (!parameters.has(name)) parameters.set(name, quoted ? text.replaceAll('\\"', '"') : text.trim());
    at = value.indexOf(';', end);
  }
  return parameters;
}

/** Only `\"` is an escape: old browsers send paths with backslashes. */
function quoteEnd(value: string, from: number): number {
  for (let at = value.indexOf('"', from); at !== -1; at = value.indexOf('"', at + 1))
    if (value.charAt(at - 1) !== '\\' || at === from) return at;
  return value.length;
}

function endOf(value: string, mark: string, from: number): number {
  const at = value.indexOf(mark, from);
  return at === -1 ? value.length : at;
}

const EXTENDED = /^([\w-]+)'[\w-]*'(.*)$/;
const NAME_ESCAPES: Readonly<Record<string, string>> = { '%22': '"', '%0A': '\n', '%0D': '\r' };

/** `name` or `filename`: as RFC 8187 encodes it, or as HTML does. */
function nameOf({ parameters }: Part, parameter: 'name' | 'filename', charset: Charset): string | undefined {
  const extended = EXTENDED.exec(parameters.get(`${parameter}*`) ?? '');
  const extendedCharset = charsetOf(extended?.[1] ?? '');
  if (extendedCharset !== undefined) return extendedCharset.decode(percentDecoded(extended?.[2] ?? ''));
  const raw = parameters.get(parameter);
  if (raw === undefined) return undefined;
  return charset
    .decode(Buffer.from(raw, 'latin1'))
    .replaceAll(/%(?:22|0A|0D)/gi, (escape) => NAME_ESCAPES[escape.toUpperCase()] ?? escape);
}

function percentDecoded(latin1: string): Buffer {
  const text = latin1.replaceAll(/%[\da-f]{2}/gi, (escape) =>
    String.fromCharCode(Number.parseInt(escape.slice(1), 16)),
  );
  return Buffer.from(text, 'latin1');
}

function presentPart(part: Part, charset: Charset): string | FormFile {
  const type = part.headers.get('content-type');
  const filename = nameOf(part, 'filename', charset);
  const content = decodedContent(part);
  if (filename === undefined) return (declaredCharset(type) ?? charset).decode(content);
  const mimetype = (type ?? 'text/plain').toLowerCase();
  return { filename, mimetype, size: content.length, encoding: 'base64', content: content.toString('base64') };
}

/** RFC 7578 has done away with these encodings, and some senders have not. */
function decodedContent({ headers, content }: Part): Buffer {
  const encoding = headers.get('content-transfer-encoding')?.toLowerCase();
  if (encoding === 'base64') return Buffer.from(content.toString('latin1'), 'base64');
  return encoding === 'quoted-printable' ? quotedPrintable(content.toString('latin1')) : content;
}

/** RFC 2045, 6.7. What is no escape stays as it is. */
function quotedPrintable(latin1: string): Buffer {
  const text = latin1
    .replaceAll(/=\r?\n/g, '')
    .replaceAll(/=([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(text, 'latin1');
}

/** How often `part` occurs in `whole`, counted no further than `limit`. */
export function countUpTo(whole: Buffer | string, part: string, limit: number): number {
  let count = 0;
  for (let at = whole.indexOf(part); at !== -1 && count < limit; at = whole.indexOf(part, at + part.length)) count++;
  return count;
}
