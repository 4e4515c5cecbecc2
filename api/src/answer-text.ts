import { createGiveWay, LIMITS } from '@headwater/shared';

/** Strings of megabytes would be copied three times on their way out. */
const PIECE_CHARS = 64 * 1024;

/** An answer in bytes, in pieces that are sent one after the other. */
export class LargeAnswer {
  readonly pieces: Uint8Array[];
  /** In bytes. */
  readonly length: number;

  constructor(pieces: Uint8Array[]) {
    this.pieces = pieces;
    this.length = pieces.reduce((bytes, piece) => bytes + piece.length, 0);
  }

  /** `cutOff` ends the connection of a client that does not read. */
  stream(cutOff: () => void): ReadableStream<Uint8Array> {
    const left = this.pieces.values();
    let stall: NodeJS.Timeout | undefined;
    const giveWay = createGiveWay();
    return new ReadableStream({
      async pull(controller) {
        clearTimeout(stall);
        await giveWay();
        const { done, value } = left.next();
        if (done === true) return controller.close();
        controller.enqueue(value);
        stall = setTimeout(cutOff, LIMITS.answerStallMs).unref();
      },
      cancel: () => clearTimeout(stall),
    });
  }
}

/**
 * Joins parts that are made when they are asked for, each of whole characters. Between them the thread is for others: a page of
 * sources with megabytes of props each held it for 0.14 s.
 */
export async function joinParts(parts: Iterable<string>): Promise<string | LargeAnswer> {
  const giveWay = createGiveWay();
  const pieces: Uint8Array[] = [];
  let text = '';
  for (const part of parts) {
    text += part;
    if (text.length >= PIECE_CHARS) {
      pieces.push(Buffer.from(text));
      text = '';
    }
    await giveWay();
  }
  return pieces.length === 0 ? text : new LargeAnswer([...pieces, Buffer.from(text)]);
}
