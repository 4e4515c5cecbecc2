/** Far more than any answer of a server, and than all pages of a list: an answer without end must not take all memory. */
export const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/** What is read is more than `maxBytes`, after decompression. */
export class TooLarge extends Error {}

/** The body as text. Throws TooLarge, and ends the connection, as soon as it is more than may be. */
export async function readText(
  response: Response,
  maxBytes = MAX_ANSWER_BYTES,
): Promise<{ text: string; bytes: number }> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop cancels what is still to come.
  for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += part.byteLength;
    if (bytes > maxBytes) throw new TooLarge(`More than ${maxBytes} bytes`);
    parts.push(part);
  }
  return { text: new TextDecoder().decode(Buffer.concat(parts)), bytes };
}
