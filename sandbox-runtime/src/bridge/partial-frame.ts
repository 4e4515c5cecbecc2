const MIN_BYTES = 64 * 1024;
const NONE = Buffer.alloc(0);

/**
 * Holds the bytes of an incomplete frame in one buffer that doubles. A sender may send single
 * bytes, and each piece kept by itself would take a few hundred bytes.
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
   * `rest`: the end of the bytes that `with` returned. Callers still hold the bytes before it, so
   * these are not overwritten.
   */
  hold(rest: Buffer): void {
    const isAll = rest.buffer === this.#buffer.buffer && rest.byteOffset === this.#buffer.byteOffset;
    if (rest.length === 0) this.#buffer = NONE;
    else if (!isAll) this.#buffer = rest;
    this.#length = rest.length;
  }
}
