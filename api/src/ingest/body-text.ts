import { isUtf8 } from 'node:buffer';

/** A request's body as the event's `bodyRaw` has it. */
export interface BodyText {
  text: string;
  /** `text` is the base64 of the bytes. */
  isBase64: boolean;
}

const CHARSET = /;\s*charset="?([^\s";]+)/i;

/**
 * Text where the bytes are text: UTF-8, or what the content type says they are. Anything else, such as an image or a form
 * with one in it, is base64, so that no byte is lost.
 */
export function bodyText(bytes: Buffer, contentType: string | undefined): BodyText {
  const charset = CHARSET.exec(contentType ?? '')?.[1]?.toLowerCase();
  // ASCII in UTF-16 is valid UTF-8 as well, with a NUL between the letters.
  if (isUtf8(bytes) && charset?.startsWith('utf-16') !== true) return { text: bytes.toString('utf8'), isBase64: false };
  const text = charset === undefined ? undefined : decode(bytes, charset);
  return text === undefined ? { text: bytes.toString('base64'), isBase64: true } : { text, isBase64: false };
}

function decode(bytes: Buffer, charset: string): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // a name that nobody knows, or bytes that are something else
  }
}
