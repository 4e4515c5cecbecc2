/**
 * Shorter values (`true`, `8080`, `admin`) are found in too much that is no secret: they are not
 * looked for.
 */
export const MIN_SECRET_CHARS = 6;
/**
 * Minimum length of a line in a value with several (a PEM key). Shorter lines identify too little.
 */
const MIN_LINE_CHARS = 16;

/** Every way to write it in text leaves it as it is. */
const PLAIN = /^[\w.~-]*$/;
const HOST_NAME = /^[A-Za-z0-9_.-]{1,253}$/;
/**
 * In longer texts, only the usual URL escapes and plain base64 are searched. The other forms of the
 * longest text take the thread a tenth of a second.
 */
const MAX_REWRITTEN_CHARS = 16 * 1024;
/** Longer ones have lines, each of which is looked for in all of its forms, or are no passwords. */
const MAX_ODD_CHARS = 2_048;

export const isLookedFor = (secret: string) => secret.trim().length >= MIN_SECRET_CHARS;

/**
 * The texts that a secret is looked for as: the whole of it, and each line of one with several.
 * None for one that is too short.
 */
export function textsOf(secret: string): string[] {
  const value = secret.toWellFormed();
  if (!isLookedFor(value)) return [];
  return [...new Set([value, value.trim(), ...longLines(value), ...normalForms(value)])];
}

/**
 * The forms in which a secret appears in text:
 * - as it is, in JSON, and in JSON within JSON
 * - as other servers write JSON and HTML when they repeat a request
 * - quoted by `console`, in a URL or a form, in a URL within a URL, in a host's name
 * - as base64 at any offset of an encoded text (`Authorization: Basic`), as hex, as bytes
 *
 * Longest first, none shorter than MIN_SECRET_CHARS. Deliberate changes by code (reversing,
 * splitting) are not included: a user that can change a source's code can read its secrets anyway.
 */
export function formsOf(text: string): string[] {
  return distinct(
    plainForms(text).flatMap((form) => {
      const nested = inJson(form);
      return nested === form ? [form] : [form, nested, inJson(nested), inJson(inJson(nested))];
    }),
  );
}

/**
 * Those that secrets take most often, where all forms of all of them would be more than a node can
 * keep.
 */
export const commonFormsOf = (text: string): string[] =>
  distinct([text, inJson(text), ...base64Forms(Buffer.from(text, 'utf8'))]);

/** No secret is looked for in fewer. */
export const leastFormsOf = (text: string): string[] => distinct([text, inJson(text)]);

function distinct(forms: readonly string[]): string[] {
  const long = forms.filter((form) => form.length >= MIN_SECRET_CHARS);
  return [...new Set(long)].sort((a, b) => b.length - a.length);
}

function longLines(value: string): string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  return lines.length === 1 ? [] : lines.filter((line) => line.length >= MIN_LINE_CHARS && !line.startsWith('-----'));
}

/** Unicode forms that file systems, host names and database passwords make of non-ASCII letters. */
function normalForms(value: string): string[] {
  if (!/[^\0-\x7F]/.test(value)) return [];
  const forms = (['NFC', 'NFD', 'NFKC', 'NFKD'] as const).map((form) => value.normalize(form));
  return forms.filter((form) => form.trim().length >= MIN_SECRET_CHARS);
}

const inJson = (text: string) => JSON.stringify(text).slice(1, -1);

function plainForms(text: string): string[] {
  const bytes = Buffer.from(text, 'utf8');
  const hex = bytes.toString('hex');
  const spacedHex = hex.replaceAll(/(..)(?=.)/g, '$1 ');
  const quoted = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  const base64 = [...base64Forms(bytes), ...base64Forms(Buffer.from(inJson(text), 'utf8')), ...latinBase64Forms(text)];
  const isLong = text.length > MAX_REWRITTEN_CHARS;
  const encoded = [...urlForms(text), ...(isLong ? [] : base64.map(encodeURIComponent))];
  return [
    text,
    // In a host's name, where no letter is large.
    ...(HOST_NAME.test(text) ? [text.toLowerCase()] : []),
    quoted,
    quoted.replaceAll("'", "\\'"),
    ...encoded,
    ...(isLong ? [] : encoded.map((form) => form.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()))),
    ...base64,
    ...(PLAIN.test(text) || text.length > MAX_ODD_CHARS ? [] : [...jsonOfOthers(text), ...htmlForms(text)]),
    hex,
    hex.toUpperCase(),
    spacedHex,
    bytes.join(','),
  ];
}

/**
 * Each part of a URL leaves other characters as they are, and so do the libraries that put URLs
 * together.
 */
function urlForms(text: string): string[] {
  if (PLAIN.test(text)) return [];
  const url = new URL('https://host');
  url.password = text;
  url.pathname = `/${text}`;
  url.search = text;
  url.hash = text;
  return [
    encodeURIComponent(text),
    // In the URL that a parameter of another one is.
    encodeURIComponent(encodeURIComponent(text)),
    encodeURIComponent(text).replaceAll(/[!'()*]/g, percent),
    encodeURI(text),
    new URLSearchParams([['', text]]).toString().slice(1),
    url.password,
    url.pathname.slice(1),
    url.search.replace(/^\?/, ''),
    url.hash.slice(1),
  ];
}

const percent = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

/**
 * PHP escapes slashes; PHP and Python escape non-ASCII characters; Go escapes characters of HTML;
 * .NET escapes both, and more.
 */
function jsonOfOthers(text: string): string[] {
  const json = inJson(text);
  const php = json.replaceAll('/', String.raw`\/`);
  return [
    php,
    php.replaceAll(NOT_ASCII, unicodeEscape),
    json.replaceAll(NOT_ASCII, unicodeEscape),
    json.replaceAll(/[<>&\u2028\u2029]/g, unicodeEscape),
    json.replaceAll(String.raw`\"`, '"').replaceAll(/[<>&'"+`]|[^\0-\x7F]/g, (unit) => unicodeEscape(unit, true)),
  ];
}

const NOT_ASCII = /[^\0-\x7F]/g;

function unicodeEscape(unit: string, isUpper: unknown): string {
  const hex = unit.charCodeAt(0).toString(16).padStart(4, '0');
  return String.raw`\u${isUpper === true ? hex.toUpperCase() : hex}`;
}

function htmlForms(text: string): string[] {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = escaped.replaceAll('"', '&quot;');
  const [decimal, hex, named] = ['&#39;', '&#x27;', '&apos;'].map((apostrophe) => quoted.replaceAll("'", apostrophe));
  return [escaped, quoted, decimal ?? '', hex ?? '', named ?? '', (decimal ?? '').replaceAll('&quot;', '&#34;')];
}

/** `btoa` takes each character for a byte. */
function latinBase64Forms(text: string): string[] {
  const isLatin = /[\x80-\xFF]/.test(text) && !/[^\0-\xFF]/.test(text);
  return isLatin ? base64Forms(Buffer.from(text, 'latin1')) : [];
}

/**
 * The base64 characters that these bytes alone decide, for each of their three offsets in a group
 * of three. Characters shared with neighbouring bytes are left out: they reveal at most four bits.
 */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const all = Buffer.concat([Buffer.alloc(offset), bytes]);
    const first = Math.ceil((offset * 8) / 6);
    const end = Math.floor((all.length * 8) / 6);
    return (['base64', 'base64url'] as const).map((encoding) => all.toString(encoding).slice(first, end));
  });
}
