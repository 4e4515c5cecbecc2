import { codes } from 'readable-stream/lib/ours/errors.js';
import stream from 'readable-stream/lib/stream.js';
import { codedError, notAvailable } from './errors.ts';
import { giveNames } from './give-names.ts';

type WebReadable = ReadableStream<unknown>;
type WebWritable = WritableStream<unknown>;

export const { Readable, Writable, Duplex, Transform } = stream;
export type NodeReadable = InstanceType<typeof Readable>;

/** Mends the package in place. Before the snapshot is taken. */
export function completeStreams(): void {
  for (const [code, NodeError] of Object.entries(codes)) makeErrorsOfNode(code, NodeError);
  giveNames('stream', Writable, [Symbol.hasInstance]);
  // The events package has no such symbol, so the method is under the name "undefined", where
  // others look for theirs.
  for (const { prototype } of [Readable, Writable] as unknown as { prototype: Record<PropertyKey, unknown> }[]) {
    const { undefined: capture } = prototype;
    delete prototype['undefined'];
    Object.defineProperty(prototype, Symbol.for('nodejs.rejection'), {
      value: capture,
      writable: true,
      configurable: true,
    });
  }
}

/**
 * The package has a class for each error code, which Node's errors do not show. Each class now
 * constructs the errors of this guest.
 */
function makeErrorsOfNode(code: string, NodeError: new (...args: unknown[]) => Error): void {
  const Base = Object.getPrototypeOf(NodeError) as new (message: string) => Error;
  Object.setPrototypeOf(NodeError, function make(message: string) {
    return codedError(code, message, Base);
  });
}

/** `stream`, with the conversions to and from web streams that the package leaves to Node. */
export function makeStreamModule(): typeof stream {
  const readable = Readable as unknown as Record<string, unknown>;
  readable['fromWeb'] = readableFromWeb;
  readable['toWeb'] = readableToWeb;
  const writable = Writable as unknown as Record<string, unknown>;
  writable['fromWeb'] = writableFromWeb;
  writable['toWeb'] = writableToWeb;
  const duplex = Duplex as unknown as Record<string, unknown>;
  duplex['fromWeb'] = (): never => {
    throw notAvailable('Duplex.fromWeb', 'use Readable.fromWeb and Writable.fromWeb');
  };
  return stream;
}

function readableFromWeb(source: WebReadable, options: object = {}): NodeReadable {
  const reader = source.getReader();
  return new Readable({
    ...options,
    read() {
      reader.read().then(
        ({ done, value }) => this.push(done ? null : value),
        (error: unknown) => this.destroy(error as Error),
      );
    },
    destroy(error, callback) {
      tellWhenDone(reader.cancel(error ?? undefined), () => callback(error));
    },
  });
}

function tellWhenDone(work: Promise<unknown>, callback: (error?: Error | null) => void): void {
  // oxlint-disable promise/no-callback-in-promise -- turning a promise into a callback is what this is for
  work.then(
    () => callback(),
    (error: unknown) => callback(error as Error),
  );
  // oxlint-enable promise/no-callback-in-promise
}

function readableToWeb(source: NodeReadable): WebReadable {
  const iterator = source[Symbol.asyncIterator]() as AsyncIterator<unknown, unknown>;
  return new ReadableStream<unknown>({
    async pull(controller) {
      const { done, value } = (await iterator.next()) as IteratorResult<unknown, unknown>;
      if (done === true) controller.close();
      else controller.enqueue(value instanceof Buffer ? new Uint8Array(value) : value);
    },
    cancel(reason) {
      source.destroy(reason instanceof Error ? reason : undefined);
    },
  });
}

function writableFromWeb(sink: WebWritable): InstanceType<typeof Writable> {
  const writer = sink.getWriter();
  return new Writable({
    write: (chunk, _encoding, callback) => tellWhenDone(writer.write(chunk), callback),
    final: (callback) => tellWhenDone(writer.close(), callback),
    destroy: (error, callback) =>
      error === null ? callback(null) : tellWhenDone(writer.abort(error), () => callback(error)),
  });
}

function writableToWeb(target: InstanceType<typeof Writable>): WebWritable {
  const done = (resolve: () => void, reject: (error: Error) => void) => (error?: Error | null) =>
    error === undefined || error === null ? resolve() : reject(error);
  return new WritableStream<unknown>({
    write: (chunk) => new Promise((resolve, reject) => void target.write(chunk, done(resolve, reject))),
    close: () => new Promise((resolve) => void target.end(resolve)),
    abort: (reason) => void target.destroy(reason instanceof Error ? reason : new Error(String(reason))),
  });
}

/** `stream/consumers`: reads a stream to its end. */
export function makeStreamConsumers(): Record<string, unknown> {
  const bytes = async (source: AsyncIterable<unknown>): Promise<Buffer> => {
    const chunks: Buffer[] = [];
    for await (const chunk of source)
      chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk as Uint8Array));
    return Buffer.concat(chunks);
  };
  const text = async (source: AsyncIterable<unknown>): Promise<string> => (await bytes(source)).toString('utf8');
  return {
    buffer: bytes,
    text,
    json: async (source: AsyncIterable<unknown>) => JSON.parse(await text(source)) as unknown,
    arrayBuffer: async (source: AsyncIterable<unknown>) => new Uint8Array(await bytes(source)).buffer,
    blob: async (source: AsyncIterable<unknown>) => new Blob([await bytes(source)]),
  };
}

/** `stream/web`: the globals under another name, looked up when they are asked for. */
export function makeStreamWeb(): Record<string, unknown> {
  const names = [
    'ReadableStream',
    'ReadableStreamDefaultReader',
    'ReadableStreamBYOBReader',
    'ReadableStreamDefaultController',
    'WritableStream',
    'WritableStreamDefaultWriter',
    'TransformStream',
    'ByteLengthQueuingStrategy',
    'CountQueuingStrategy',
    'TextEncoderStream',
    'TextDecoderStream',
    'CompressionStream',
    'DecompressionStream',
  ];
  return Object.fromEntries(names.map((name) => [name, (globalThis as Record<string, unknown>)[name]]));
}
