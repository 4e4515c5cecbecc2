/** Size of blocks that hold copied pieces. The first blocks are as small as the body so far. */
const MAX_BLOCK_BYTES = 64 * 1024;
const MIN_BLOCK_BYTES = 512;
/**
 * Smaller pieces are copied: a list of them would outweigh their bytes, and joining them would take
 * the thread.
 */
const MIN_VIEW_BYTES = 1024;

/**
 * The bytes of a body that arrives in pieces. A piece is a view of a whole socket read and keeps
 * that in memory. A server may put 64 KB of framing around each byte. So pieces stay as they are
 * only if they make up most of their read; others are copied. This holds at most twice the body's
 * length, and the last read.
 */
export class KeptBytes {
  #parts: Buffer[] = [];
  #length = 0;
  /** Pieces of the last read; the next piece may belong to it too. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** Pieces that were copied: those from `#from` on are in no part yet. */
  #block = Buffer.alloc(0);
  #from = 0;
  #to = 0;

  get length(): number {
    return this.#length;
  }

  add(piece: Buffer): void {
    this.#length += piece.length;
    const isSmall = piece.length < MIN_VIEW_BYTES;
    if (isSmall || piece.buffer !== this.#waiting[0]?.buffer) this.#keepWaiting();
    if (isSmall) return this.#copy(piece);
    this.#waiting.push(piece);
    this.#waitingBytes += piece.length;
  }

  /** All of it. Nothing is to be added afterwards. */
  join(): Buffer {
    this.#keepWaiting();
    this.#endPart();
    const [first, ...others] = this.#parts;
    return first !== undefined && others.length === 0 ? first : Buffer.concat(this.#parts, this.#length);
  }

  #keepWaiting(): void {
    const [first] = this.#waiting;
    if (first === undefined) return;
    if (this.#waitingBytes * 2 >= first.buffer.byteLength) {
      this.#endPart();
      this.#parts.push(...this.#waiting);
    } else for (const piece of this.#waiting) this.#copy(piece);
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  #copy(piece: Buffer): void {
    for (let copied = 0; copied < piece.length; ) {
      if (this.#to === this.#block.length) this.#startBlock(piece.length - copied);
      const count = piece.copy(this.#block, this.#to, copied);
      copied += count;
      this.#to += count;
    }
  }

  #startBlock(neededBytes: number): void {
    this.#endPart();
    const bytes = Math.min(MAX_BLOCK_BYTES, Math.max(MIN_BLOCK_BYTES, neededBytes, this.#length));
    // Not of the pool that other buffers share: a small one would keep all of that alive.
    this.#block = Buffer.allocUnsafeSlow(bytes);
    [this.#from, this.#to] = [0, 0];
  }

  #endPart(): void {
    if (this.#to > this.#from) this.#parts.push(this.#block.subarray(this.#from, this.#to));
    this.#from = this.#to;
  }
}
