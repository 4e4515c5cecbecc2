const CHARSET = /;\s*charset=["']?([^\s"';]+)/i;

/** A character encoding that a sender declares, with its decoder. */
export interface Charset {
  /** As the Encoding Standard names it: `utf-8`, `windows-1252`, `shift_jis` … */
  name: string;
  /** Bytes that mean nothing become U+FFFD; a byte order mark is kept. */
  decode(bytes: Buffer): string;
}

export const UTF8: Charset = { name: 'utf-8', decode: (bytes) => bytes.toString('utf8') };

/** The charset in a content type; undefined where none is named that is known here. */
export function declaredCharset(contentType: string | undefined): Charset | undefined {
  const label = CHARSET.exec(contentType ?? '')?.[1];
  return label === undefined ? undefined : charsetOf(label);
}

export function charsetOf(label: string): Charset | undefined {
  // Most senders name this one, and a decoder takes longer to make than a short body to read.
  if (label.toLowerCase() === UTF8.name) return UTF8;
  try {
    const decoder = new TextDecoder(label, { ignoreBOM: true });
    if (decoder.encoding === UTF8.name) return UTF8;
    return { name: decoder.encoding, decode: (bytes) => decoder.decode(bytes) };
  } catch {
    return undefined;
  }
}

/**
 * In these a byte below 128 need not be the ASCII character, so that text in them may look like
 * valid UTF-8.
 */
export function hidesInAscii({ name }: Charset): boolean {
  return name.startsWith('utf-16') || name === 'iso-2022-jp';
}

/** A text that its bytes say the charset of, by a byte order mark. */
export function markedCharset(bytes: Buffer): Charset | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return charsetOf('utf-16le');
  return bytes[0] === 0xfe && bytes[1] === 0xff ? charsetOf('utf-16be') : undefined;
}

/**
 * The charset of a body that is declared to be in one of those of UTF-16, which a byte order mark
 * tells apart, or of one with no declaration.
 */
export function charsetByMark(bytes: Buffer, declared: Charset | undefined): Charset | undefined {
  return declared === undefined || declared.name.startsWith('utf-16') ? (markedCharset(bytes) ?? declared) : declared;
}

export function withoutUtf8Mark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

export function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}
