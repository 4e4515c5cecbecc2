import { PartialFrame } from './partial-frame.ts';

/**
 * Frames on the pipe between the engine and a sandbox process: a fixed head, then up to eight parts
 * of raw bytes.
 *
 *   u32 bytes after this field | u8 kind | u8 number of parts | u32 run | u32 length of each part …
 *   | parts
 *
 * Event JSON travels as a part of its own, so it is copied but never parsed or escaped on the way.
 */
export interface Frame {
  kind: number;
  run: number;
  parts: Buffer[];
}

export type FramePart = string | Uint8Array;

/**
 * Thrown when the bytes of the other side are no frames, or a frame is larger than agreed. The
 * channel is unusable then.
 */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

const HEAD_BYTES = 10;
const MAX_PARTS = 8;
const MIN_BUFFER_BYTES = 64 * 1024;

/**
 * Collects frames and hands them over in one write per turn of the event loop: a system call costs
 * more than a frame.
 */
export class FrameWriter {
  readonly #write: (bytes: Uint8Array) => void;
  #buffer = Buffer.allocUnsafe(MIN_BUFFER_BYTES);
  #used = 0;
  #scheduled = false;

  constructor(write: (bytes: Uint8Array) => void) {
    this.#write = write;
  }

  send(kind: number, run: number, parts: readonly FramePart[] = []): void {
    const lengths = parts.map((part) => bytesOf(part));
    const total = HEAD_BYTES + 4 * parts.length + lengths.reduce((sum, length) => sum + length, 0);
    this.#reserve(total);
    const buffer = this.#buffer;
    let at = this.#used;
    at = buffer.writeUInt32LE(total - 4, at);
    at = buffer.writeUInt8(kind, at);
    at = buffer.writeUInt8(parts.length, at);
    at = buffer.writeUInt32LE(run, at);
    for (const length of lengths) at = buffer.writeUInt32LE(length, at);
    for (const part of parts) {
      if (typeof part === 'string') at += buffer.write(part, at);
      else {
        buffer.set(part, at);
        at += part.byteLength;
      }
    }
    this.#used = at;
    this.#schedule();
  }

  flush(): void {
    if (this.#used === 0) return;
    const bytes = this.#buffer.subarray(0, this.#used);
    // The stream keeps a reference until the bytes are out, so the next frames go into the rest or
    // into a new buffer.
    this.#buffer = this.#buffer.subarray(this.#used);
    this.#used = 0;
    this.#write(bytes);
  }

  #reserve(bytes: number): void {
    if (this.#used + bytes <= this.#buffer.length) return;
    this.flush();
    if (bytes > this.#buffer.length) this.#buffer = Buffer.allocUnsafe(Math.max(MIN_BUFFER_BYTES, bytes));
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.flush();
    });
  }
}

/**
 * Checks the value, not its type: for another value, the frame would leak memory that was never
 * written.
 */
function bytesOf(part: FramePart): number {
  if (typeof part === 'string') return Buffer.byteLength(part);
  if (part instanceof Uint8Array) return part.byteLength;
  throw new TypeError('A part of a frame is neither text nor bytes');
}

/**
 * Cuts a byte stream into frames. A frame's announced size is checked before a byte of it is kept.
 */
export class FrameReader {
  readonly #maxFrameBytes: number;
  readonly #partial = new PartialFrame();
  #needed = 4;

  constructor(maxFrameBytes: number) {
    this.#maxFrameBytes = maxFrameBytes;
  }

  /** Takes the next bytes and returns the frames that are now whole. Throws FrameError. */
  push(chunk: Buffer): Frame[] {
    let rest = this.#partial.with(chunk);
    const frames: Frame[] = [];
    while (rest.length >= this.#needed) {
      const length = rest.readUInt32LE(0);
      if (length > this.#maxFrameBytes) throw new FrameError(`A frame of ${length} bytes is over the limit`);
      this.#needed = 4 + length;
      if (rest.length < this.#needed) break;
      frames.push(readFrame(rest.subarray(4, this.#needed)));
      rest = rest.subarray(this.#needed);
      this.#needed = 4;
    }
    this.#partial.hold(rest);
    return frames;
  }
}

function readFrame(bytes: Buffer): Frame {
  if (bytes.length < HEAD_BYTES - 4) throw new FrameError('A frame is shorter than its head');
  const kind = bytes.readUInt8(0);
  const count = bytes.readUInt8(1);
  const run = bytes.readUInt32LE(2);
  const lengthsAt = HEAD_BYTES - 4;
  let at = lengthsAt + 4 * count;
  if (count > MAX_PARTS || at > bytes.length) throw new FrameError('A frame announces more parts than it holds');
  const parts: Buffer[] = [];
  for (let i = 0; i < count; i++) {
    const length = bytes.readUInt32LE(lengthsAt + 4 * i);
    if (at + length > bytes.length) throw new FrameError('A part of a frame is longer than the frame');
    parts.push(bytes.subarray(at, at + length));
    at += length;
  }
  if (at !== bytes.length) throw new FrameError('A frame is longer than its parts');
  return { kind, run, parts };
}
