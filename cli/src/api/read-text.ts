/**
 * Several times what any answer of a server has: one without end must not take all memory, of which
 * JSON needs a multiple.
 */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** All pages of a list together may have this many times the bytes of one answer. */
export const LIST_ANSWERS = 8;

/** The body exceeds `maxBytes` after decompression. */
export class TooLarge extends Error {}

/**
 * The body as text. Throws TooLarge, and ends the connection, as soon as it is more than may be.
 */
export async function readText(response: Response, maxBytes: number): Promise<{ text: string; bytes: number }> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop cancels the rest of the body.
  for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += part.byteLength;
    if (bytes > maxBytes) throw new TooLarge(`More than ${maxBytes} bytes`);
    parts.push(part);
  }
  return { text: new TextDecoder().decode(Buffer.concat(parts)), bytes };
}
