/** What a build process and the node exchange: frames of a length (32 bits, big endian) and JSON text of so many bytes. */
export function encodeFrame(value: unknown): Buffer {
  const text = Buffer.from(JSON.stringify(value));
  const head = Buffer.alloc(4);
  head.writeUInt32BE(text.length);
  return Buffer.concat([head, text]);
}

/** Thrown for a frame beyond the bound, or one that is no JSON: whoever sent it is not to be listened to further. */
class TaskFrameError extends Error {
  override readonly name = 'TaskFrameError';
}

/** Puts frames together from the bytes of a pipe. Holds at most one frame of `maxBytes`. */
export class TaskFrameReader {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The frames that this chunk completes. Throws where the sender is not to be listened to further. */
  push(chunk: Buffer): unknown[] {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    const frames: unknown[] = [];
    for (;;) {
      const length = this.#peekLength();
      if (length === undefined || this.#bytes < length + 4) return frames;
      const whole = Buffer.concat(this.#chunks);
      const rest = whole.subarray(length + 4);
      this.#chunks = rest.length === 0 ? [] : [rest];
      this.#bytes = rest.length;
      frames.push(parse(whole.subarray(4, length + 4)));
    }
  }

  #peekLength(): number | undefined {
    if (this.#bytes < 4) return undefined;
    const [first = Buffer.alloc(0)] = this.#chunks;
    if (first.length < 4) this.#chunks = [Buffer.concat(this.#chunks)];
    const length = (this.#chunks[0] ?? first).readUInt32BE(0);
    if (length > this.#maxBytes) throw new TaskFrameError(`a frame of ${length} bytes`);
    return length;
  }
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new TaskFrameError('a frame that is not JSON', { cause });
  }
}
