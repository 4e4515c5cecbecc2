import {
  ByteLengthQueuingStrategy,
  CountQueuingStrategy,
  ReadableByteStreamController,
  ReadableStream,
  ReadableStreamBYOBReader,
  ReadableStreamBYOBRequest,
  ReadableStreamDefaultController,
  ReadableStreamDefaultReader,
  TransformStream,
  TransformStreamDefaultController,
  WritableStream,
  WritableStreamDefaultController,
  WritableStreamDefaultWriter,
} from 'web-streams-polyfill';
import { giveName } from './node/give-names.ts';

/** The classes of the Streams standard, by the names of their globals. */
export const STREAM_CLASSES = {
  ByteLengthQueuingStrategy,
  CountQueuingStrategy,
  ReadableByteStreamController,
  ReadableStream,
  ReadableStreamBYOBReader,
  ReadableStreamBYOBRequest,
  ReadableStreamDefaultController,
  ReadableStreamDefaultReader,
  TransformStream,
  TransformStreamDefaultController,
  WritableStream,
  WritableStreamDefaultController,
  WritableStreamDefaultWriter,
};

export type GuestStream = ReadableStream;

export function isStream(value: unknown): value is ReadableStream {
  return value instanceof ReadableStream;
}

/**
 * True once something was read from the stream, or it was cancelled. The polyfill keeps the flag
 * that the standard names.
 */
export function isDisturbed(stream: ReadableStream): boolean {
  const flag = '_disturbed';
  return (stream as unknown as Record<typeof flag, boolean>)[flag];
}

/** Slots of a stream in the polyfill, named as in the standard. */
const STATE = '_state';
const STORED_ERROR = '_storedError';
type StreamSlots = Record<typeof STATE | typeof STORED_ERROR, unknown>;

/** Property that `finished` of Node's streams reads to detect the end of a web stream. */
const IS_CLOSED = Symbol.for('nodejs.webstream.isClosedPromise');

for (const { prototype } of [ReadableStream, WritableStream]) {
  Object.defineProperty(prototype, IS_CLOSED, {
    configurable: true,
    get: giveName(function isClosed(this: StreamSlots) {
      const closing = watchEnd(this);
      Object.defineProperty(this, IS_CLOSED, { value: closing });
      return closing;
    }, `get [${IS_CLOSED.description}]`),
  });
}

/** The polyfill reports the end of a stream only to a reader or writer, which would lock it. */
function watchEnd(stream: StreamSlots): { promise: Promise<void> } {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  promise.catch(() => undefined);
  let state = stream[STATE];
  const settle = () => {
    if (state === 'closed') resolve();
    // The error is set right after the state.
    else if (state === 'errored') queueMicrotask(() => reject(stream[STORED_ERROR]));
  };
  Object.defineProperty(stream, STATE, {
    get: () => state,
    set(next: unknown) {
      state = next;
      settle();
    },
  });
  settle();
  return { promise };
}

/**
 * Large bodies come in pieces, as they would from a network: consumers measure their progress by
 * them.
 */
const MAX_CHUNK_BYTES = 64 * 1024;

/** A stream of bytes that are already there. `read` is called at the first read. */
export function streamOf(read: () => Uint8Array<ArrayBuffer>): {
  stream: ReadableStream;
  fail(reason: unknown): void;
} {
  let controller: ReadableByteStreamController | undefined;
  let rest: Uint8Array<ArrayBuffer> | undefined;
  const stream = new ReadableStream({
    type: 'bytes',
    start(made) {
      controller = made;
    },
    pull(made) {
      rest ??= read();
      // A copy, because an enqueued view takes its whole buffer along.
      const chunk = rest.length <= MAX_CHUNK_BYTES ? rest : rest.slice(0, MAX_CHUNK_BYTES);
      rest = rest.subarray(chunk.length);
      if (chunk.length > 0) made.enqueue(chunk);
      if (rest.length > 0) return;
      made.close();
      // A reader that brought its own buffer waits for an answer of its own.
      made.byobRequest?.respond(0);
    },
  });
  return { stream, fail: (reason) => controller?.error(reason) };
}

/**
 * Reads a stream of Uint8Arrays to its end. Throws what the stream fails with, and TypeError for
 * other chunks.
 */
export async function readToEnd(stream: ReadableStream): Promise<Uint8Array[]> {
  const reader = stream.getReader() as ReadableStreamDefaultReader<unknown>;
  const chunks: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return chunks;
    if (!(value instanceof Uint8Array)) {
      const fault = new TypeError('A body stream must be one of Uint8Arrays');
      // The caller gets this error, even if the cancellation of the source fails.
      await reader.cancel(fault).catch(() => undefined);
      throw fault;
    }
    chunks.push(value);
  }
}
