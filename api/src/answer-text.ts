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
        stall = setTimeout(cutOff, LIMITS.clientStallMs).unref();
      },
      cancel: () => clearTimeout(stall),
    });
  }
}

/** Cuts a long text, between characters. */
function* cut(text: string): Generator<string> {
  let from = 0;
  while (from < text.length) {
    let to = Math.min(from + PIECE_CHARS, text.length);
    if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to -= 1;
    yield text.slice(from, to);
    from = to;
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/**
 * Joins parts that are made when they are asked for, each of whole characters. Between them the
 * thread is for others: a page of sources with megabytes of props each held it for 0.14 s.
 */
export async function joinParts(parts: Iterable<string>): Promise<string | LargeAnswer> {
  const giveWay = createGiveWay();
  const pieces: Uint8Array[] = [];
  let text = '';
  for (const part of parts) {
    if (text.length + part.length < PIECE_CHARS) text += part;
    else {
      if (text !== '') pieces.push(Buffer.from(text));
      text = '';
      for (const piece of cut(part)) {
        pieces.push(Buffer.from(piece));
        await giveWay();
      }
    }
    await giveWay();
  }
  return pieces.length === 0 ? text : new LargeAnswer([...pieces, Buffer.from(text)]);
}
