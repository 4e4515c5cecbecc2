import { requireInteger } from '../checks.ts';
import { outOfRange } from '../errors.ts';
import { type NodeReadable, Readable, Writable } from '../stream.ts';
import { type Options, readFileOptions, readFilePath } from './arguments.ts';
import type { SyncCalls } from './sync-calls.ts';

const CHUNK_BYTES = 64 * 1024;

type NodeWritable = InstanceType<typeof Writable>;

interface StreamCalls {
  open(path: unknown, flags?: unknown, mode?: unknown): number;
  close(fd: number): void;
  read(fd: number, buffer: Uint8Array, offset: number, length: number, position: number | undefined): number;
  write(fd: number, data: Uint8Array, offset: number, length: number, position: number | undefined): number;
}

interface FileStreams {
  createReadStream(path: unknown, options?: unknown): NodeReadable;
  createWriteStream(path: unknown, options?: unknown): NodeWritable;
  ReadStream: unknown;
  WriteStream: unknown;
}

class FileReadStream extends Readable {
  readonly #calls: StreamCalls;
  readonly path: unknown;
  fd: number | null;
  bytesRead = 0;
  readonly flags: unknown;
  #position: number | undefined;
  readonly #end: number;
  readonly #autoClose: boolean;

  constructor(calls: StreamCalls, path: unknown, given?: unknown) {
    const options = readFileOptions(given);
    // Before the stream is made: it would report the mistake once more.
    if (typeof options['fd'] !== 'number') readFilePath(path);
    checkRange(options);
    super(streamOptions(options));
    this.#calls = calls;
    this.path = path;
    this.fd = (options['fd'] as number | undefined) ?? null;
    this.flags = options['flags'] ?? 'r';
    this.#position = options['start'] as number | undefined;
    this.#end = (options['end'] as number | undefined) ?? Number.POSITIVE_INFINITY;
    this.#autoClose = options['autoClose'] !== false;
  }

  override _construct(callback: (error?: Error | null) => void): void {
    openStream(this, this.#calls, callback);
  }

  override _read(size: number): void {
    const at = this.#position ?? this.bytesRead;
    const length = Math.min(size, CHUNK_BYTES, this.#end - at + 1);
    if (length <= 0) return void this.push(null);
    const chunk = Buffer.alloc(length);
    let count: number;
    try {
      count = this.#calls.read(this.fd as number, chunk, 0, length, this.#position);
    } catch (error) {
      return void this.destroy(error as Error);
    }
    if (this.#position !== undefined) this.#position += count;
    this.bytesRead += count;
    this.push(count === 0 ? null : chunk.subarray(0, count));
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    closeStream(this, this.#calls, this.#autoClose, error, callback);
  }

  close(callback?: () => void): void {
    if (callback !== undefined) this.once('close', callback);
    this.destroy();
  }
}

class FileWriteStream extends Writable {
  readonly #calls: StreamCalls;
  readonly path: unknown;
  fd: number | null;
  bytesWritten = 0;
  readonly flags: unknown;
  readonly mode: unknown;
  #position: number | undefined;

  constructor(calls: StreamCalls, path: unknown, given?: unknown) {
    const options = readFileOptions(given);
    if (typeof options['fd'] !== 'number') readFilePath(path);
    checkRange(options);
    super({ ...streamOptions(options), decodeStrings: true });
    this.#calls = calls;
    this.path = path;
    this.fd = (options['fd'] as number | undefined) ?? null;
    this.flags = options['flags'] ?? 'w';
    this.mode = options['mode'];
    this.#position = options['start'] as number | undefined;
    if (typeof options['encoding'] === 'string') this.setDefaultEncoding(options['encoding'] as BufferEncoding);
  }

  override _construct(callback: (error?: Error | null) => void): void {
    openStream(this, this.#calls, callback);
  }

  override _write(chunk: Buffer, _encoding: string, callback: (error?: Error | null) => void): void {
    try {
      const written = this.#calls.write(this.fd as number, chunk, 0, chunk.length, this.#position);
      if (this.#position !== undefined) this.#position += written;
      this.bytesWritten += written;
    } catch (error) {
      return callback(error as Error);
    }
    callback();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    closeStream(this, this.#calls, true, error, callback);
  }

  close(callback?: () => void): void {
    if (callback !== undefined) this.once('close', callback);
    this.end();
  }
}

/**
 * Streams of files. They open in the next tick, so that a missing file is an `error` event and not
 * a throw.
 */
export function makeFileStreams(syncCalls: SyncCalls): FileStreams {
  const calls = syncCalls as unknown as StreamCalls;
  class ReadStream extends FileReadStream {
    constructor(path: unknown, options?: unknown) {
      super(calls, path, options);
    }
  }
  class WriteStream extends FileWriteStream {
    constructor(path: unknown, options?: unknown) {
      super(calls, path, options);
    }
  }
  return {
    createReadStream: (path, options) => new ReadStream(path, options),
    createWriteStream: (path, options) => new WriteStream(path, options),
    ReadStream,
    WriteStream,
  };
}

interface FileStream {
  fd: number | null;
  path: unknown;
  flags: unknown;
  mode?: unknown;
  emit(name: string, value?: unknown): boolean;
}

function checkRange({ start, end }: Options): void {
  const { MAX_SAFE_INTEGER: max } = Number;
  if (start !== undefined) requireInteger('start', start, 0, max);
  if (end !== undefined && end !== Number.POSITIVE_INFINITY) requireInteger('end', end, 0, max);
  if (typeof start === 'number' && typeof end === 'number' && start > end)
    throw outOfRange('start', `<= "end" (here: ${end})`, start);
}

function streamOptions(options: Options): object {
  const { highWaterMark, encoding, signal, emitClose } = options;
  return {
    highWaterMark: highWaterMark ?? CHUNK_BYTES,
    emitClose: emitClose ?? true,
    autoDestroy: true,
    ...(typeof encoding === 'string' ? { encoding } : {}),
    ...(signal === undefined ? {} : { signal }),
  };
}

function openStream(stream: FileStream, calls: StreamCalls, callback: (error?: Error | null) => void): void {
  if (typeof stream.fd === 'number') return callback();
  try {
    stream.fd = calls.open(stream.path, stream.flags, stream.mode);
  } catch (error) {
    return callback(error as Error);
  }
  callback();
  stream.emit('open', stream.fd);
  stream.emit('ready');
}

function closeStream(
  stream: FileStream,
  calls: StreamCalls,
  closes: boolean,
  error: Error | null,
  callback: (error?: Error | null) => void,
): void {
  const { fd } = stream;
  stream.fd = null;
  try {
    if (closes && typeof fd === 'number') calls.close(fd);
  } catch (failure) {
    return callback(error ?? (failure as Error));
  }
  callback(error);
}
