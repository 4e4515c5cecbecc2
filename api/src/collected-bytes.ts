const MIN_ROOM_BYTES = 512;

/**
 * The bytes of a body that comes in pieces, which are as small as its sender likes. Each is an object of half a kilobyte, and may be a
 * view of a much larger buffer, so they are copied into one: what is held in memory is twice what has arrived at most, however many
 * pieces there were. A first piece that fills its own buffer is kept as it is, as most bodies are one.
 */
export class CollectedBytes {
  readonly #mostBytes: number;
  #room: Buffer = Buffer.alloc(0);
  #length = 0;

  /** `mostBytes`: how long the body can become; no more room than that is made, and none before it is needed. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  get length(): number {
    return this.#length;
  }

  /** The piece is not to be changed afterwards. */
  add(piece: Uint8Array): void {
    const length = this.#length + piece.byteLength;
    if (this.#length === 0 && piece.byteLength * 2 >= piece.buffer.byteLength) {
      this.#room = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    } else {
      if (length > this.#room.length) this.#makeRoom(length);
      this.#room.set(piece, this.#length);
    }
    this.#length = length;
  }

  /** All of it. Nothing is to be added afterwards. */
  join(): Buffer {
    return this.#room.subarray(0, this.#length);
  }

  #makeRoom(neededBytes: number): void {
    const wanted = Math.min(this.#mostBytes, Math.max(MIN_ROOM_BYTES, neededBytes * 2));
    // Not of the pool that other buffers share: a small one would keep all of that alive.
    const room = Buffer.allocUnsafeSlow(Math.max(neededBytes, wanted));
    room.set(this.#room.subarray(0, this.#length));
    this.#room = room;
  }
}
