/** Shorter values (`true`, `8080`, `admin`) are found in too much that is no secret: they are not looked for. */
export const MIN_SECRET_CHARS = 6;
/** Of the lines of a value with several (a PEM key): shorter ones say too little about it. */
const MIN_LINE_CHARS = 16;

/**
 * How a secret shows up in text: as it is, in JSON and in JSON within JSON, quoted by `console`, in a URL or a form, as
 * base64 wherever in an encoded text it lies (`Authorization: Basic`), as hex, as bytes. Longest first, none shorter than
 * MIN_SECRET_CHARS; empty for a value that is. What code does to it on purpose (reversing, splitting) is not among them:
 * who can change the code of a source can read its secrets.
 */
export function formsOf(secret: string): string[] {
  const value = secret.toWellFormed();
  if (value.trim().length < MIN_SECRET_CHARS) return [];
  const texts = new Set([value, value.trim(), ...longLines(value)]);
  const forms = new Set<string>();
  for (const text of texts) {
    for (const form of plainForms(text)) {
      const nested = inJson(form);
      const levels = nested === form ? [form] : [form, nested, inJson(nested)];
      for (const level of levels) if (level.length >= MIN_SECRET_CHARS) forms.add(level);
    }
  }
  return [...forms].sort((a, b) => b.length - a.length);
}

function longLines(value: string): string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  return lines.length === 1 ? [] : lines.filter((line) => line.length >= MIN_LINE_CHARS && !line.startsWith('-----'));
}

const inJson = (text: string) => JSON.stringify(text).slice(1, -1);

function plainForms(text: string): string[] {
  const bytes = Buffer.from(text, 'utf8');
  const hex = bytes.toString('hex');
  const spacedHex = hex.replaceAll(/(..)(?=.)/g, '$1 ');
  const quoted = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  const encoded = [encodeURIComponent(text), encodeURI(text), new URLSearchParams([['', text]]).toString().slice(1)];
  return [
    text,
    quoted,
    quoted.replaceAll("'", "\\'"),
    ...encoded,
    ...encoded.map((form) => form.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())),
    ...base64Forms(bytes),
    ...base64Forms(Buffer.from(inJson(text), 'utf8')),
    hex,
    hex.toUpperCase(),
    spacedHex,
    bytes.join(','),
  ];
}

/**
 * The characters that these bytes alone decide, for each of the three places that they can have in a group of three.
 * Characters shared with what is before or after are left out: they say at most four bits of it.
 */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const all = Buffer.concat([Buffer.alloc(offset), bytes]);
    const first = Math.ceil((offset * 8) / 6);
    const end = Math.floor((all.length * 8) / 6);
    return (['base64', 'base64url'] as const).map((encoding) => all.toString(encoding).slice(first, end));
  });
}
