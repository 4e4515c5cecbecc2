const MIN_BYTES = 64 * 1024;
const NONE = Buffer.alloc(0);

/**
 * The bytes of a frame that is not whole yet, in one piece that doubles: whoever sends them may
 * send one at a time, and each piece kept by itself takes a few hundred bytes.
 */
export class PartialFrame {
  #buffer: Buffer = NONE;
  #length = 0;

  /**
   * Joins the held bytes and the next piece. The caller cuts frames from them, and gives the rest
   * back with `hold`.
   */
  with(piece: Buffer): Buffer {
    if (this.#length === 0) return piece;
    const length = this.#length + piece.length;
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(MIN_BYTES, 2 * this.#buffer.length, length));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    piece.copy(this.#buffer, this.#length);
    return this.#buffer.subarray(0, length);
  }

  /**
   * `rest`: the end of what `with` answered. What comes before it is in the hands of others, and is
   * not written to again.
   */
  hold(rest: Buffer): void {
    const isAll = rest.buffer === this.#buffer.buffer && rest.byteOffset === this.#buffer.byteOffset;
    if (rest.length === 0) this.#buffer = NONE;
    else if (!isAll) this.#buffer = rest;
    this.#length = rest.length;
  }
}
