import { LIMITS } from '@headwater/shared';

/** What a file of a form looks like to the component. */
interface FormFile {
  filename: string;
  mimetype: string;
  /** Bytes. */
  size: number;
  encoding: 'base64';
  content: string;
}

type FormField = string | FormFile;

/**
 * JSON text of a multipart body: one key a field, an array where a field is repeated. Undefined where the body is not what
 * its content type says, or has more than LIMITS.maxFormFields fields.
 */
export async function multipartJson(contentType: string, bytes: Buffer): Promise<string | undefined> {
  const form = await parseForm(contentType, bytes);
  if (form === undefined) return undefined;
  const fields = new Map<string, FormField[]>();
  for (const [name, value] of form) {
    const field = typeof value === 'string' ? value : await presentFile(value);
    const known = fields.get(name);
    if (known === undefined) fields.set(name, [field]);
    else known.push(field);
  }
  const entries = [...fields].map(([name, values]) => [name, values.length === 1 ? values[0] : values] as const);
  // fromEntries defines own properties: a field named `__proto__` is a field.
  return JSON.stringify(Object.fromEntries(entries));
}

/** Two or three are usual. */
const MAX_HEAD_LINES = 16;

/** RFC 2046. A search for a longer text takes time with its length, at each place of the body: fifty seconds for one of 31 000 characters. */
const MAX_BOUNDARY_CHARS = 70;
const BOUNDARY = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i;

async function parseForm(contentType: string, bytes: Buffer): Promise<FormData | undefined> {
  const match = BOUNDARY.exec(contentType);
  const boundary = match?.[1] ?? match?.[2];
  // Tiny parts, and header lines of parts, cost a hundred times more than their bytes: both are counted before any is looked at.
  if (boundary === undefined || boundary.length > MAX_BOUNDARY_CHARS || hasTooMuch(bytes, `--${boundary}`))
    return undefined;
  // Of the header as it came another boundary might be read than the one that was counted.
  const headers = { 'content-type': `multipart/form-data; boundary=${quoted(boundary)}` };
  const response = new Response(new Uint8Array(bytes), { headers });
  try {
    // oxlint-disable-next-line typescript/no-deprecated -- for bodies without a bound; this is maxHttpBodyBytes at most, in memory
    return await response.formData();
  } catch {
    return undefined; // a broken part: the component gets the string
  }
}

function hasTooMuch(bytes: Buffer, delimiter: string): boolean {
  let parts = 0;
  for (let at = bytes.indexOf(delimiter); at !== -1; at = bytes.indexOf(delimiter, at + delimiter.length)) {
    // The last one begins no part.
    if (++parts > LIMITS.maxFormFields + 1) return true;
    const start = at + delimiter.length;
    const head = bytes.subarray(start, start + LIMITS.maxPartHeadBytes);
    const length = head.indexOf('\r\n\r\n');
    if (length === -1 && head.length === LIMITS.maxPartHeadBytes) return true;
    if (countUpTo(head.subarray(0, length === -1 ? undefined : length), '\r\n', MAX_HEAD_LINES) === MAX_HEAD_LINES)
      return true;
  }
  return false;
}

/** As a parameter of a content type (RFC 9110, 5.6.4). */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** How often `part` occurs in `whole`, counted no further than `limit`. */
export function countUpTo(whole: Buffer | string, part: string, limit: number): number {
  let count = 0;
  for (let at = whole.indexOf(part); at !== -1 && count < limit; at = whole.indexOf(part, at + part.length)) count++;
  return count;
}

async function presentFile(file: File): Promise<FormFile> {
  const content = Buffer.from(await file.arrayBuffer());
  return {
    filename: file.name,
    mimetype: file.type,
    size: content.length,
    encoding: 'base64',
    content: content.toString('base64'),
  };
}
