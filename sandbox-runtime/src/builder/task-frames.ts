import { PartialFrame } from '../bridge/partial-frame.ts';

/**
 * Message between a build process and the node: JSON, and a text that intermediate code need not
 * parse. A bundle has tens of megabytes. As a member of the JSON it would hold the node's thread
 * for a tenth of a second.
 */
export interface TaskFrame {
  value: unknown;
  /** UTF-8; empty if absent. */
  text: Buffer;
}

const HEAD_BYTES = 8;

export function encodeFrame(value: unknown, text: string | Uint8Array = ''): Buffer {
  const [json, content] = [Buffer.from(JSON.stringify(value)), Buffer.from(text)];
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(json.length);
  head.writeUInt32BE(content.length, 4);
  return Buffer.concat([head, json, content]);
}

/** A frame is too large or is no JSON. Its sender is not trusted any further. */
class TaskFrameError extends Error {
  override readonly name = 'TaskFrameError';
}

export interface TaskFrameBounds {
  maxJsonBytes: number;
  maxTextBytes: number;
}

/** Puts frames together from the bytes of a pipe. Holds at most one frame within the bounds. */
export class TaskFrameReader {
  readonly #bounds: TaskFrameBounds;
  readonly #partial = new PartialFrame();
  #needed = HEAD_BYTES;

  constructor(bounds: TaskFrameBounds) {
    this.#bounds = bounds;
  }

  /**
   * The frames that this chunk completes. Throws where the sender is not to be listened to further.
   */
  push(chunk: Buffer): TaskFrame[] {
    let rest = this.#partial.with(chunk);
    const frames: TaskFrame[] = [];
    while (rest.length >= this.#needed) {
      const [json, text] = [this.#length(rest, 0, 'maxJsonBytes'), this.#length(rest, 4, 'maxTextBytes')];
      this.#needed = HEAD_BYTES + json + text;
      if (rest.length < this.#needed) break;
      const textAt = HEAD_BYTES + json;
      frames.push({ value: parse(rest.subarray(HEAD_BYTES, textAt)), text: rest.subarray(textAt, this.#needed) });
      rest = rest.subarray(this.#needed);
      this.#needed = HEAD_BYTES;
    }
    this.#partial.hold(rest);
    return frames;
  }

  #length(bytes: Buffer, at: number, bound: keyof TaskFrameBounds): number {
    const length = bytes.readUInt32BE(at);
    if (length > this.#bounds[bound]) throw new TaskFrameError(`a frame of ${length} bytes`);
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
