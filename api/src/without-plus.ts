const PLUS = 0x2b;
const SPACE = 0x20;

/**
 * A form with the spaces that its `+` mean. Of each `+` both URLSearchParams and querystring put a
 * text of its own to the end of a chain: millions of them take half a second.
 */
export function withoutPlus(text: string): string {
  if (!text.includes('+')) return text;
  const bytes = Buffer.from(text);
  for (let at = bytes.indexOf(PLUS); at !== -1 && at < bytes.length; at++) if (bytes[at] === PLUS) bytes[at] = SPACE;
  return bytes.toString();
}
